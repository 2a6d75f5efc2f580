import { API_SUBJECT } from '@resource/contract'
import type { Assets } from './assets.ts'

type Options = { title: string; version: string; assets: Assets }

/** The page at `/`: what this service is and where its documents and probes are. */
export function indexPage({ title, version, assets }: Options) {
  return htmlPage({
    title,
    head: stylesheet(assets.style.url),
    icon: assets.icon.url,
    body: `<main class="index">
  <h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
  <p>${API_SUBJECT}, over plain REST and typed tRPC, from one contract.</p>
  <ul>
    <li><a href="/console">/console</a> <span>see and edit the records</span></li>
    <li><a href="/docs">/docs</a> <span>send requests</span></li>
    <li><a href="/redoc">/redoc</a> <span>read its reference</span></li>
    <li><a href="/openapi.json">/openapi.json</a> <span>its OpenAPI document</span></li>
    <li><a href="/healthz">/healthz</a> <span>is the process alive</span></li>
    <li><a href="/readyz">/readyz</a> <span>can it serve requests</span></li>
  </ul>
</main>`,
  })
}

/** The page at `/docs`: Swagger UI, from which requests can be sent. */
export function docsPage({ title, assets }: Options) {
  return htmlPage({
    title: `${title}: try the API`,
    head: stylesheet(assets.swaggerStyle.url) + stylesheet(assets.style.url),
    icon: assets.icon.url,
    body: `<div id="docs"></div>${script(assets.swaggerScript.url)}${script(assets.docsScript.url)}`,
  })
}

/** The page at `/redoc`: Redoc, to read from top to bottom. */
export function redocPage({ title, assets }: Options) {
  return htmlPage({
    title: `${title}: reference`,
    head: stylesheet(assets.style.url),
    icon: assets.icon.url,
    body: `<div id="redoc"></div>${script(assets.redocLibrary.url)}${script(assets.redocScript.url)}`,
  })
}

function htmlPage({ title, head, icon, body }: { title: string; head: string; icon: string; body: string }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
${head}
</head>
<body>
${body}
</body>
</html>
`
}

function stylesheet(url: string) {
  return `<link rel="stylesheet" href="${url}">`
}

function script(url: string) {
  return `<script src="${url}"></script>`
}

function escapeHtml(text: string) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
