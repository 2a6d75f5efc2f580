# The service and its command line. How to run the image: docs/guides/operating.md and compose.yaml.

FROM node:24-slim AS sources
WORKDIR /app
ENV CI=true CHECKPOINT_DISABLE=1 DO_NOT_TRACK=1 TURBO_TELEMETRY_DISABLED=1 pnpm_config_pm_on_fail=ignore
COPY package.json ./
# The pnpm version in package.json.
RUN npm install --global --no-audit --no-fund "$(node -p "require('./package.json').packageManager.split('+')[0]")"
# Downloads all packages in a separate layer, which is cached until the lockfile changes.
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
RUN pnpm fetch
COPY . .

FROM sources AS build
RUN pnpm install --offline --frozen-lockfile \
    && node_modules/.bin/turbo run generate build --filter=@resource/server... --filter=@resource/console...

FROM sources AS production
RUN pnpm install --offline --frozen-lockfile --prod --filter-prod @resource/server... --filter-prod @resource/cli...
# The published client bundles the contract. The command line uses the client's sources, which need it as a package.
RUN mkdir -p packages/client/node_modules/@resource \
    && ln -s ../../../contract packages/client/node_modules/@resource/contract
COPY --from=build /app/prisma/generated prisma/generated
COPY --from=build /app/apps/console/dist apps/console/dist
COPY --from=build /app/packages/client/tarball packages/client/tarball

FROM node:24-slim
ENV NODE_ENV=production MALLOC_MMAP_THRESHOLD_=1048576 HOST=0.0.0.0 PORT=3000 DATABASE_URL=file:/data/resource.db
WORKDIR /app
COPY --from=production /app ./
RUN ln -s /app/apps/cli/src/main.mjs /usr/local/bin/resource \
    && install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node.js runs as PID 1: the service forwards signals to its workers and reaps them.
CMD ["node", "--max-semi-space-size=16", "apps/server/src/main.ts"]
