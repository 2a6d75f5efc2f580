import { API_VERSION } from '@resource/contract'
import { expect, test } from 'vitest'
import { startReceiver } from './otlp-receiver.ts'
import { CALLER, LAMP, startService, TRACE, tree } from './traced-service.ts'

test('a request continues the trace of its caller: spans for it, its call and each query are exported on stop', async () => {
  await using receiver = await startReceiver()
  await using service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const send = (path: string, options?: RequestInit) =>
    fetch(service.url + path, {
      ...options,
      headers: { 'Content-Type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` },
    }).then(({ status }) => status)
  expect(await send('/items/', { method: 'POST', body: JSON.stringify(LAMP) })).toBe(201)
  expect(await send('/items/1?envelope=true')).toBe(200)
  expect(await send('/items/7')).toBe(404)
  await service.end()

  const spans = receiver.spans().filter(({ traceId }) => traceId === TRACE)
  const requestSpans = spans.filter(({ attributes }) => attributes['db.collection.name'] !== 'api_keys')
  expect(receiver.headers[0]).toBe('POST /v1/traces application/x-protobuf')
  expect(tree(requestSpans, CALLER)).toEqual([
    ['GET /items/{item_id}', ['items.get', ['find items']]],
    ['GET /items/{item_id}', ['items.get', ['find items']]],
    // On PostgreSQL the statement of the change also inserts the audit entry.
    [
      'POST /items/',
      [
        'items.create',
        ['transaction', ['insert items'], ...(service.system === 'postgresql' ? [] : [['insertMany audit_entries']])],
      ],
    ],
  ])
  expect(requestSpans.find(({ attributes }) => attributes['url.path'] === '/items/1')).toMatchObject({
    kind: 'server',
    attributes: {
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/items/1',
      'http.route': '/items/{item_id}',
      'http.response.status_code': 200,
    },
    isError: false,
    resource: {
      'service.name': 'resource-service',
      'service.version': API_VERSION,
      'telemetry.sdk.language': 'nodejs',
    },
  })
  expect(requestSpans.find(({ name }) => name === 'insert items')).toMatchObject({
    kind: 'client',
    attributes: { 'db.system.name': service.system, 'db.operation.name': 'insert', 'db.collection.name': 'items' },
    isError: false,
  })
  const calls = requestSpans.filter(({ name }) => name === 'items.get')
  expect(calls.map(({ kind, attributes, isError }) => ({ kind, attributes, isError }))).toEqual([
    { kind: 'internal', attributes: { 'rpc.method': 'items.get' }, isError: false },
    {
      kind: 'internal',
      attributes: { 'rpc.method': 'items.get', 'rpc.response.status_code': '404' },
      isError: false,
    },
  ])
})
