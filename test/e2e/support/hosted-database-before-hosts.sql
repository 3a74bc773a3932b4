-- The ledger in a hosted PostgreSQL behind PostgREST. docs/hosted-database.md explains the set-up and the rights.
-- Run it once, as the owner of the database; on Supabase, in the SQL editor.
begin;

-- One row for each pull request that was opened. The URL is unique, so an entry that is delivered twice stays one row.
create table public.pull_requests (
  id bigint generated always as identity primary key,
  owner text not null check (owner ~ '^[A-Za-z0-9._-]{1,100}$'),
  repo text not null check (repo ~ '^[A-Za-z0-9._-]{1,100}$'),
  pr_url text not null unique check (pr_url ~ '^https?://[^[:space:]]+$' and length(pr_url) <= 500),
  created_at timestamptz not null
);
create index newest_pull_requests on public.pull_requests (created_at desc, id desc);

-- Totals, updated by a trigger, so that no request has to count rows.
create table public.totals (
  single boolean primary key default true check (single),
  pull_requests bigint not null default 0,
  last_created_at timestamptz
);
insert into public.totals default values;

-- Names in lower case: the code host compares them without regard to case.
create table public.repository_totals (
  owner text not null,
  repo text not null,
  pull_requests bigint not null,
  primary key (owner, repo)
);

create function public.count_pull_request() returns trigger
language plpgsql set search_path = '' as $$
begin
  update public.totals set
    pull_requests = pull_requests + 1,
    last_created_at = greatest(last_created_at, new.created_at);
  insert into public.repository_totals as known values (lower(new.owner), lower(new.repo), 1)
    on conflict (owner, repo) do update set pull_requests = known.pull_requests + 1;
  return null;
end $$;
create trigger count_pull_request after insert on public.pull_requests
  for each row execute function public.count_pull_request();

-- Karma of each identity hash.
create table public.karma (
  hash text primary key check (hash ~ '^[0-9a-f]{8}$'),
  karma integer not null check (karma >= 0)
);

-- Besides reading, the key may call these three functions. They run with the rights of their owner, and contain one
-- statement each.

-- Otherwise an entry with a time in the future would stay the newest until then.
create function public.record_pull_request(owner text, repo text, pr_url text, created_at timestamptz) returns void
language sql security definer set search_path = '' as $$
  insert into public.pull_requests (owner, repo, pr_url, created_at) values ($1, $2, $3, least($4, now()))
  on conflict do nothing;
$$;

create function public.karma_of(hash text) returns integer
language sql stable security definer set search_path = '' as $$
  select known.karma from public.karma as known where known.hash = $1;
$$;

create function public.set_karma(hash text, karma integer) returns void
language sql security definer set search_path = '' as $$
  insert into public.karma (hash, karma) values ($1, $2)
  on conflict (hash) do update set karma = excluded.karma;
$$;

-- Supabase grants everything on new tables and functions to the roles of its keys. Take all of that away first.
revoke all on public.pull_requests, public.totals, public.repository_totals, public.karma from anon, authenticated;
revoke all on function public.count_pull_request() from public, anon, authenticated;
revoke all on function public.record_pull_request(text, text, text, timestamptz) from public, anon, authenticated;
revoke all on function public.karma_of(text) from public, anon, authenticated;
revoke all on function public.set_karma(text, integer) from public, anon, authenticated;

alter table public.pull_requests enable row level security;
alter table public.totals enable row level security;
alter table public.repository_totals enable row level security;
alter table public.karma enable row level security;

-- Anyone may read what the service publishes anyway. Karma has no policy, so nobody can list it, but only ask for a hash.
create policy published on public.pull_requests for select to anon using (true);
create policy published on public.totals for select to anon using (true);
create policy published on public.repository_totals for select to anon using (true);
grant select on public.pull_requests, public.totals, public.repository_totals to anon, service_role;
grant execute on function public.record_pull_request(text, text, text, timestamptz) to anon, service_role;
grant execute on function public.karma_of(text) to anon, service_role;
grant execute on function public.set_karma(text, integer) to anon, service_role;

notify pgrst, 'reload schema';
commit;
