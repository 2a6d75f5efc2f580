import { readFile } from 'node:fs/promises'
import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { startReceiver, startSilentReceiver } from './otlp-receiver.ts'
import { CALLER, LAMP, startService, TRACE, tree } from './traced-service.ts'

test('an untrusted trace is linked, and continued only for requests with a key and for direct local ones', async () => {
  await using receiver = await startReceiver()
  await using service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const { key } = await createClient({ baseUrl: service.url }).keys.create.mutate({ name: 'operator', role: 'admin' })
  const send = async (path: string, headers: Record<string, string>) =>
    (await fetch(service.url + path, { headers: { traceparent: `00-${TRACE}-${CALLER}-01`, ...headers } })).status
  expect(await send('/books', { Via: '1.1 proxy', Authorization: `Bearer ${key}` })).toBe(200)
  expect(await send('/items', { Via: '1.1 proxy' })).toBe(401)
  expect(await send('/docs', { Via: '1.1 proxy', Authorization: `Bearer rsk_${'0'.repeat(44)}` })).toBe(200)
  await service.end()

  const requests = receiver
    .spans()
    .filter(({ attributes }) => String(attributes['url.path']).match(/^.(books|items|docs)$/))
  const seen = requests.map(({ attributes, traceId, parentId, links }) => ({
    ...{ path: attributes['url.path'], isOn: traceId === TRACE, parentId, links },
  }))
  expect(seen.toSorted((a, b) => String(a.path).localeCompare(String(b.path)))).toEqual([
    { path: '/books', isOn: true, parentId: CALLER, links: [] },
    { path: '/docs', isOn: false, parentId: '', links: [TRACE] },
    { path: '/items', isOn: false, parentId: '', links: [TRACE] },
  ])
})

test('each call of a tRPC batch has a span under that of the request, and the log contains the trace id', async () => {
  await using receiver = await startReceiver()
  await using service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  await createClient({ baseUrl: service.url }).items.create.mutate(LAMP)
  const input = encodeURIComponent(JSON.stringify({ 0: { id: 1 }, 1: {}, 2: { id: 9 } }))
  const batch = await fetch(`${service.url}/trpc/items.get,books.list,items.get?batch=1&input=${input}`)
  expect(batch.status).toBe(207)
  const line = await service.logged(({ path }) => path === '/trpc/items.get,books.list,items.get')
  await service.end()

  const spans = receiver.spans().filter(({ traceId }) => traceId === line.trace_id)
  expect(spans.length).toBeGreaterThan(0)
  expect(tree(spans, '')).toEqual([
    ['GET /trpc', ['books.list', ['page books']], ['items.get', ['find items']], ['items.get', ['find items']]],
  ])
})

test('no span contains a secret, body, header, query value or error message', async () => {
  await using receiver = await startReceiver()
  await using service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const { key } = await createClient({ baseUrl: service.url }).keys.create.mutate({ name: 'operator', role: 'admin' })
  const client = createClient({ baseUrl: service.url, apiKey: key })
  const ada = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'analytical' }
  await client.users.create.mutate(ada)
  await expect(client.users.create.mutate(ada)).rejects.toThrow('email: already in use')
  await fetch(`${service.url}/items?category=hidden-value`, { headers: { Authorization: `Bearer ${key}` } })
  await service.end()

  const raw = receiver.raw()
  expect(raw).toContain('users.create')
  expect(raw).toContain('GET /items')
  for (const secret of [
    key,
    key.slice(0, 16),
    'operator',
    'Lovelace',
    'ada@',
    'analytical',
    'hidden-value',
    'in use',
  ]) {
    expect(raw).not.toContain(secret)
  }
})

test('the standard variables set the service name and the sampling', async () => {
  await using receiver = await startReceiver()
  await using service = await startService({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/elsewhere`,
    OTEL_SERVICE_NAME: 'shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    OTEL_BSP_SCHEDULE_DELAY: '1',
  })
  const send = (flags: string) =>
    fetch(`${service.url}/items`, { headers: { traceparent: `00-${TRACE}-${CALLER}-${flags}` } })
  await fetch(`${service.url}/books`)
  await send('00')
  await send('01')
  // The service exports spans while it runs.
  await expect.poll(() => receiver.spans().map(({ name }) => name)).toContain('GET /items/')
  await service.end()
  expect(receiver.headers[0]).toBe('POST /elsewhere application/x-protobuf')
  const requests = receiver.spans().filter(({ kind }) => kind === 'server')
  expect(requests).toMatchObject([
    {
      traceId: TRACE,
      name: 'GET /items/',
      resource: { 'service.name': 'shop', 'deployment.environment.name': 'test' },
    },
  ])
})

test('an unreachable or silent collector is logged once and delays no request', async () => {
  await using silent = await startSilentReceiver()
  for (const endpoint of ['http://127.0.0.1:1', silent.url]) {
    await using service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    })
    await fetch(`${service.url}/items`)
    await service.logged(({ msg }) => msg === 'cannot export traces')
    for (let n = 0; n < 50; n++) expect((await fetch(`${service.url}/items`)).status).toBe(200)
    await service.end()
    const warnings = service.lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40)
    expect(warnings.map(({ msg }) => msg)).toEqual([
      'no API key exists: anyone who can reach this port can read, write and delete everything',
      'cannot export traces',
    ])
  }
})

test('without an endpoint and an issuer, a start loads neither OpenTelemetry nor jose nor a client, and a scrape only what prom-client needs', async () => {
  const log = new URL('log-modules.mjs', import.meta.url)
  for (const environment of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }]) {
    await using service = await startService({ ...environment, NODE_OPTIONS: `--import=${log}` })
    const loaded = async () => {
      const urls = await readFile(`${service.folder}/modules.txt`, 'utf8')
      expect(urls).toContain('/apps/server/src/app.ts\n')
      const names = [...urls.matchAll(/\/node_modules\/(@opentelemetry\/[^/]+|@trpc\/client|jose|prom-client)\//g)].map(
        ([, name]) => name,
      )
      return [...new Set(names)].toSorted()
    }
    await fetch(`${service.url}/items`)
    expect(await loaded()).toEqual([])
    expect((await fetch(`${service.url}/metrics`)).status).toBe(200)
    expect(await loaded()).toEqual(['@opentelemetry/api', 'prom-client'])
  }
})
