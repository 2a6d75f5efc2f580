import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages } from '../src/pages/pages.ts'
import { openBrowser } from './browser.ts'

/** A real server on a free port: the pages, a small document, and the two operations that document describes. */
async function startServer() {
  const app = express()
  app.use(pages({ title: 'Greeting <Service>', version: '1.2.3' }))
  app.get('/openapi.json', (_request, response) => void response.json(openapi))
  app.get('/greetings/:name', ({ params }, response) => void response.json({ id: 7, text: `Hello ${params.name}` }))
  app.post('/greetings', express.json(), ({ body }, response) => void response.status(201).json({ ...body, id: 8 }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const greeting = { 'application/json': { schema: { $ref: '#/components/schemas/Greeting' } } }
const openapi = {
  openapi: '3.1.0',
  info: {
    title: 'Greetings',
    version: '1.2.3',
    description: 'Says **hello**.\n\n| Code | Means |\n|---|---|\n| 7 | Hi |',
  },
  servers: [{ url: '/' }],
  security: [{ bearer: [] }],
  tags: [{ name: 'greetings', description: 'Friendly words.' }],
  paths: {
    '/greetings/{name}': {
      get: {
        operationId: 'readGreeting',
        summary: 'Greet somebody',
        tags: ['greetings'],
        parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'The greeting', content: greeting } },
      },
    },
    '/greetings': {
      post: {
        operationId: 'createGreeting',
        summary: 'Keep a greeting',
        tags: ['greetings'],
        requestBody: { required: true, content: greeting },
        responses: { 201: { description: 'The greeting kept', content: greeting } },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Greeting: {
        type: 'object',
        required: ['text'],
        properties: {
          id: { type: 'integer', minimum: 1, readOnly: true },
          text: { type: 'string', minLength: 1, maxLength: 80 },
          language: { type: ['string', 'null'], enum: ['en', 'ru', null] },
          mood: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
        },
      },
    },
  },
}

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

// The first start unpacks the browser, which takes long on a slow disk.
beforeAll(async () => {
  server = await startServer()
  browser = await openBrowser()
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

/**
 * Opens `path` in a fresh browser context, acts on it, and then holds the page to its promise: nothing on the console,
 * no error, nothing that its Content-Security-Policy had to stop, no request to another host.
 */
async function visit(path: string, act: (page: Page) => Promise<void>, width = 1280) {
  await using context = await browser.newContext({ viewport: { width, height: 900 } })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (isForeign(request.url())) problems.push(`request to ${request.url()}`)
  })
  await page.addInitScript(reportViolations)
  await page.goto(server.url + path)
  await act(page)
  expect(problems).toEqual([])
}

const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('stopped by policy', event.effectiveDirective, event.blockedURI))`

function isForeign(url: string) {
  return !url.startsWith(`${server.url}/`) && !url.startsWith('data:')
}

const browserTest = (name: string, body: () => Promise<void>) => test(name, body, 30_000)

browserTest('the index names the service and links to its documents and probes', () =>
  visit('/', async (page) => {
    expect(await page.getByRole('heading').textContent()).toBe('Greeting <Service> 1.2.3')
    expect(await page.getByRole('link').allTextContents()).toEqual([
      '/docs',
      '/redoc',
      '/openapi.json',
      '/healthz',
      '/readyz',
    ])
    await page.getByRole('link', { name: '/docs' }).click()
    await page.getByText('Greet somebody').waitFor()
  }),
)

browserTest('/docs sends a request and shows its answer', () =>
  visit('/docs', async (page) => {
    const operation = await openOperation(page, 'Greet somebody')
    await operation.getByPlaceholder('name').fill('Ada')
    await operation.getByRole('button', { name: 'Execute' }).click()
    expect(await readAnswer(operation)).toEqual({ status: '200', body: { id: 7, text: 'Hello Ada' } })
  }),
)

browserTest('/docs sends a request with a JSON body', () =>
  visit('/docs', async (page) => {
    const operation = await openOperation(page, 'Keep a greeting')
    await operation.getByRole('textbox').first().fill('{"text":"Good evening"}')
    await operation.getByRole('button', { name: 'Execute' }).click()
    expect(await readAnswer(operation)).toEqual({ status: '201', body: { id: 8, text: 'Good evening' } })
  }),
)

async function openOperation(page: Page, summary: string) {
  const operation = page.locator('.opblock', { hasText: summary })
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  return operation
}

async function readAnswer(operation: Locator) {
  const answer = operation.locator('.live-responses-table .response')
  const body = await answer.locator('pre').first().textContent()
  const status = await answer.locator('.response-col_status').textContent()
  return { status, body: JSON.parse(body ?? '') }
}

browserTest('/docs takes a bearer token and shows the schemas', () =>
  visit('/docs', async (page) => {
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByRole('textbox').fill('a-token')
    await page.getByRole('button', { name: 'Apply credentials' }).click()
    await page.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Expand all' }).click()
    await page.getByText('[1, 80] characters').waitFor()
  }),
)

browserTest('/redoc shows every operation, its schemas and samples', () =>
  visit('/redoc', async (page) => {
    await page.getByRole('heading', { name: 'Greetings (1.2.3)' }).waitFor()
    await page.getByRole('heading', { name: 'Greet somebody' }).waitFor()
    await page.getByRole('heading', { name: 'Keep a greeting' }).waitFor()
    await page.getByRole('cell', { name: 'Hi' }).waitFor()
    await page.getByRole('button', { name: '201 The greeting kept' }).click()
    expect(await page.getByText('[ 1 .. 80 ] characters').count()).toBe(2)
    await page.getByRole('menuitem', { name: 'greetings' }).first().click()
  }),
)

for (const path of ['/', '/docs', '/redoc']) {
  browserTest(`${path} fits a narrow screen`, () =>
    visit(
      path,
      async (page) => {
        await page.getByRole('heading').first().waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      },
      390,
    ),
  )

  test(`${path} forbids inline scripts, eval and every other host`, async () => {
    const { headers } = await fetch(server.url + path)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|blob:|https?:|\*/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-cache')
  })

  test(`${path} answers HEAD and OPTIONS and refuses what is not offered`, async () => {
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
        message: 'Method not allowed',
        details: `DELETE is not offered at ${path}; it answers GET, HEAD, OPTIONS.`,
      },
    })
  })
}

test('/docs/ is /docs', async () => {
  const [plain, slashed] = await Promise.all([fetch(`${server.url}/docs`), fetch(`${server.url}/docs/`)])
  expect(slashed.status).toBe(200)
  expect(await slashed.text()).toBe(await plain.text())
})

test('the files of a page are kept by the browser for a year', async () => {
  const html = await (await fetch(`${server.url}/docs`)).text()
  const paths = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1])
  expect(paths).toHaveLength(5)
  for (const path of paths) {
    const { status, headers } = await fetch(server.url + path)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-encoding')).toBe('gzip')
  }
})

test('a path the pages do not know goes on to the rest of the service', async () => {
  const { status } = await fetch(`${server.url}/assets/0000000000000000/pages.css`)
  expect(status).toBe(404)
})
