import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

for (const path of ['/docs', '/redoc']) {
  test(`4.5 GET ${path} answers a page`, async () => {
    await using server = await startTestServer()
    const response = await fetch(server.url + path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toMatch(/^<!doctype html>/i)
  })
}
