-- Brings a database that was set up before there were several code hosts up to date. Run it once, as its owner.
-- docs/hosted-database.sql makes new databases like this.
begin;

-- The key of the code host: `gh`, or one of HOSTS.
alter table public.pull_requests
  add column host text not null default 'gh' check (host ~ '^[a-z][a-z0-9]{0,15}$');

create or replace function public.count_pull_request() returns trigger
language plpgsql set search_path = '' as $$
begin
  update public.totals set
    pull_requests = pull_requests + 1,
    last_created_at = greatest(last_created_at, new.created_at);
  insert into public.repository_totals as known values (
    lower(case new.host when 'gh' then new.owner else new.host || '/' || new.owner end), lower(new.repo), 1
  )
    on conflict (owner, repo) do update set pull_requests = known.pull_requests + 1;
  return null;
end $$;

-- The public key keeps the right to call it, if you have left it that.
create temporary table may_record on commit drop as
  select has_function_privilege('anon', 'public.record_pull_request(text, text, text, timestamptz)', 'execute') as anon;
drop function public.record_pull_request(text, text, text, timestamptz);
create function public.record_pull_request(
  owner text, repo text, pr_url text, created_at timestamptz, host text default 'gh'
) returns void
language sql security definer set search_path = '' as $$
  insert into public.pull_requests (owner, repo, pr_url, created_at, host)
  values ($1, $2, $3, least($4, now()), $5)
  on conflict do nothing;
$$;
revoke all on function public.record_pull_request(text, text, text, timestamptz, text) from public, anon, authenticated;
grant execute on function public.record_pull_request(text, text, text, timestamptz, text) to service_role;
do $$ begin
  if (select anon from may_record) then
    grant execute on function public.record_pull_request(text, text, text, timestamptz, text) to anon;
  end if;
end $$;

notify pgrst, 'reload schema';
commit;
