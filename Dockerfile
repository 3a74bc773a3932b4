# gitveil as on a machine of one's own: Debian, a user without rights, and one volume for the state. The root can be
# read-only, with a tmpfs at /tmp. docs/deploy.md explains how to run it.
ARG BASE=docker.io/library/debian:12-slim

FROM ${BASE} AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends binutils ca-certificates nodejs npm \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/gitveil
COPY package.json package-lock.json ./
# Without the symbols for debuggers, which are a fifth of the image.
RUN npm ci --omit=dev --no-audit --no-fund \
  && strip node_modules/node/bin/node node_modules/@cloudflare/workerd-*/bin/workerd \
  && rm -r node_modules/workerd/bin node_modules/workerd/worker.mjs
COPY . .
RUN npm run --silent build -- --keep

FROM ${BASE}
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
WORKDIR /srv/gitveil
COPY . .
# What was built has all other packages in it.
COPY --from=build /srv/gitveil/.build .build
COPY --from=build /srv/gitveil/node_modules/node/bin node_modules/.bin
COPY --from=build /srv/gitveil/node_modules/@cloudflare node_modules/@cloudflare
COPY --from=build /srv/gitveil/node_modules/miniflare node_modules/miniflare
COPY --from=build /srv/gitveil/node_modules/smol-toml node_modules/smol-toml
COPY --from=build /srv/gitveil/node_modules/workerd node_modules/workerd
RUN groupadd --system --gid 990 gitveil \
  && useradd --system --uid 990 --gid gitveil --home-dir /var/lib/gitveil --shell /usr/sbin/nologin gitveil \
  && install --directory --owner=gitveil --group=gitveil --mode=700 /var/lib/gitveil
USER gitveil
# Caddy is another container, so others than this machine connect. CLIENT_IP_HEADER is what it sets.
ENV HOME=/var/lib/gitveil HOST=0.0.0.0 PORT=8080 STATE_DIR=/var/lib/gitveil/state CLIENT_IP_HEADER=X-Real-IP
VOLUME /var/lib/gitveil
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["/srv/gitveil/node_modules/.bin/node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["/srv/gitveil/node_modules/.bin/node", "local/runtime/start.ts"]
