/** How a request reaches the service: its HTTP version and additional headers. */
export interface Passage {
  version?: '1.0' | '1.1'
  headers: Record<string, string>
}

/** Proxied requests, each with a single sign of a proxy, and the text of the refusal for that sign. */
export const PROXIED: Record<string, Passage & { sign: string }> = {
  Via: { headers: { Via: '1.1 proxy' }, sign: 'the header Via' },
  'CDN-Loop': { headers: { 'CDN-Loop': 'cloudflare' }, sign: 'the header CDN-Loop' },
  'CF-Ray': { headers: { 'CF-Ray': '230b030023ae2822-SJC' }, sign: 'the header CF-Ray' },
  'HTTP/1.0': { version: '1.0', headers: {}, sign: 'HTTP/1.0' },
  'X-Forwarded-For': { headers: { 'X-Forwarded-For': '192.0.2.1' }, sign: 'the header X-Forwarded-For' },
  'X-Forwarded-For after loopback': {
    headers: { 'X-Forwarded-For': '127.0.0.1, 2001:db8::1' },
    sign: 'the header X-Forwarded-For',
  },
  'X-Forwarded-For without a value': { headers: { 'X-Forwarded-For': '' }, sign: 'the header X-Forwarded-For' },
  'X-Forwarded-Host': { headers: { 'X-Forwarded-Host': 'api.example.com' }, sign: 'the header X-Forwarded-Host' },
  'X-Forwarded-Host that begins like loopback': {
    headers: { 'X-Forwarded-Host': 'localhost.example.com' },
    sign: 'the header X-Forwarded-Host',
  },
  'X-Real-IP': { headers: { 'X-Real-IP': '192.0.2.1' }, sign: 'the header X-Real-IP' },
  'X-Forwarded-Server': { headers: { 'X-Forwarded-Server': 'proxy' }, sign: 'the header X-Forwarded-Server' },
  'X-Client-IP': { headers: { 'X-Client-IP': '192.0.2.1' }, sign: 'the header X-Client-IP' },
  'X-Cluster-Client-IP': { headers: { 'X-Cluster-Client-IP': '192.0.2.1' }, sign: 'the header X-Cluster-Client-IP' },
  'X-Original-Forwarded-For': {
    headers: { 'X-Original-Forwarded-For': '192.0.2.1' },
    sign: 'the header X-Original-Forwarded-For',
  },
  'X-Original-Host': { headers: { 'X-Original-Host': 'api.example.com' }, sign: 'the header X-Original-Host' },
  'CF-Connecting-IP': { headers: { 'CF-Connecting-IP': '192.0.2.1' }, sign: 'the header CF-Connecting-IP' },
  'Fastly-Client-IP': { headers: { 'Fastly-Client-IP': '192.0.2.1' }, sign: 'the header Fastly-Client-IP' },
  'True-Client-IP': { headers: { 'True-Client-IP': '192.0.2.1' }, sign: 'the header True-Client-IP' },
  'Forwarded-For': { headers: { 'Forwarded-For': '192.0.2.1' }, sign: 'the header Forwarded-For' },
  'X-Forwarded': { headers: { 'X-Forwarded': '192.0.2.1' }, sign: 'the header X-Forwarded' },
  'X-ProxyUser-Ip': { headers: { 'X-ProxyUser-Ip': '192.0.2.1' }, sign: 'the header X-ProxyUser-Ip' },
  'X-Azure-ClientIP': { headers: { 'X-Azure-ClientIP': '192.0.2.1' }, sign: 'the header X-Azure-ClientIP' },
  'X-Appengine-User-Ip': { headers: { 'X-Appengine-User-Ip': '192.0.2.1' }, sign: 'the header X-Appengine-User-Ip' },
  'X-Vercel-Forwarded-For': {
    headers: { 'X-Vercel-Forwarded-For': '192.0.2.1' },
    sign: 'the header X-Vercel-Forwarded-For',
  },
  'Fly-Client-IP': { headers: { 'Fly-Client-IP': '192.0.2.1' }, sign: 'the header Fly-Client-IP' },
  'X-Envoy-External-Address': {
    headers: { 'X-Envoy-External-Address': '192.0.2.1' },
    sign: 'a header that begins with X-Envoy-',
  },
  'X-Envoy-Expected-Rq-Timeout-Ms': {
    headers: { 'X-Envoy-Expected-Rq-Timeout-Ms': '15000' },
    sign: 'a header that begins with X-Envoy-',
  },
  'X-Forwarded-Proto https': { headers: { 'X-Forwarded-Proto': 'https' }, sign: 'the header X-Forwarded-Proto' },
  'X-Forwarded-Proto http without X-Forwarded-For': {
    headers: { 'X-Forwarded-Proto': 'http' },
    sign: 'the header X-Forwarded-Proto',
  },
  'X-Forwarded-Proto http after https': {
    headers: { 'X-Forwarded-Proto': 'https, http' },
    sign: 'the header X-Forwarded-Proto',
  },
  'X-Forwarded-Port 443': { headers: { 'X-Forwarded-Port': '443' }, sign: 'the header X-Forwarded-Port' },
  'X-Forwarded-Port 80': { headers: { 'X-Forwarded-Port': '80' }, sign: 'the header X-Forwarded-Port' },
  'X-Forwarded-Port without X-Forwarded-For': {
    headers: { 'X-Forwarded-Port': '8443' },
    sign: 'the header X-Forwarded-Port',
  },
  'X-Forwarded-Ssl': { headers: { 'X-Forwarded-Ssl': 'on' }, sign: 'the header X-Forwarded-Ssl' },
  'X-Forwarded-Scheme': { headers: { 'X-Forwarded-Scheme': 'https' }, sign: 'the header X-Forwarded-Scheme' },
  'X-Forwarded-Protocol': { headers: { 'X-Forwarded-Protocol': 'https' }, sign: 'the header X-Forwarded-Protocol' },
  'X-Forwarded-Prefix': {
    headers: { 'X-Forwarded-Prefix': '/api' },
    sign: 'a header that begins with X-Forwarded-',
  },
  'Front-End-Https': { headers: { 'Front-End-Https': 'on' }, sign: 'the header Front-End-Https' },
  'X-Url-Scheme': { headers: { 'X-Url-Scheme': 'https' }, sign: 'the header X-Url-Scheme' },
  'CF-Connecting-IP of loopback': {
    headers: { 'CF-Connecting-IP': '127.0.0.1' },
    sign: 'the header CF-Connecting-IP',
  },
  'CF-Visitor': { headers: { 'CF-Visitor': '{"scheme":"https"}' }, sign: 'a header that begins with Cf-' },
  'X-Amzn-Trace-Id': { headers: { 'X-Amzn-Trace-Id': 'Root=1-67' }, sign: 'a header that begins with X-Amzn-' },
  'Fastly-SSL': { headers: { 'Fastly-SSL': '1' }, sign: 'a header that begins with Fastly-' },
  Forwarded: { headers: { Forwarded: 'for=127.0.0.1, for=192.0.2.1' }, sign: 'the header Forwarded' },
  'Forwarded with https': {
    headers: { Forwarded: 'for=127.0.0.1;host=localhost;proto=https' },
    sign: 'the header Forwarded',
  },
  'Forwarded without a client': { headers: { Forwarded: 'for=127.0.0.1, proto=http' }, sign: 'the header Forwarded' },
  'Forwarded with a host': { headers: { Forwarded: 'proto=https;host=api.example.com' }, sign: 'the header Forwarded' },
}

/** Direct requests from this machine, and requests through its development proxies. */
export const DIRECT: Record<string, Passage> = {
  'without a proxy': { headers: {} },
  'through the proxy of Vite': {
    headers: {
      'X-Forwarded-For': '::ffff:127.0.0.1',
      'X-Forwarded-Host': 'localhost:5173',
      'X-Forwarded-Port': '5173',
      'X-Forwarded-Proto': 'http',
    },
  },
  'through the proxy of Next.js': {
    headers: { 'X-Forwarded-For': '::1', 'X-Forwarded-Host': 'localhost:3000', 'X-Forwarded-Proto': 'http' },
  },
  'through a proxy that forwards for loopback': {
    headers: {
      'X-Real-IP': '127.0.0.1',
      'X-Forwarded-For': '127.0.0.1, ::1',
      Forwarded: 'for=127.0.0.1;host="localhost:3000";proto=http, for="[::1]:40123"',
    },
  },
}

/** Single headers that name only loopback, and are no sign of a proxy. */
export const LOOPBACK_HEADERS: Record<string, string> = {
  Forwarded: 'for=127.0.0.1;host="localhost:3000";proto=http',
  'Forwarded-For': '127.0.0.1',
  'X-Forwarded': '127.0.0.1',
  'X-Forwarded-For': '127.0.0.1',
  'X-Forwarded-Host': 'localhost:3000',
  'X-Forwarded-Server': 'localhost',
  'X-Real-IP': '127.0.0.1',
  'X-Client-IP': '127.0.0.1',
}
