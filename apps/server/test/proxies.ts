/** How a request reaches the service: the version of its HTTP, and headers beside its own. */
export interface Passage {
  version?: '1.0' | '1.1'
  headers: Record<string, string>
}

/** Requests that came through a proxy, each by one sign alone, and the words of the refusal that name it. */
export const PROXIED: Record<string, Passage & { says: string }> = {
  Via: { headers: { Via: '1.1 proxy' }, says: 'the header Via' },
  'HTTP/1.0': { version: '1.0', headers: {}, says: 'HTTP/1.0' },
  'X-Forwarded-For': { headers: { 'X-Forwarded-For': '192.0.2.1' }, says: 'the header X-Forwarded-For' },
  'X-Forwarded-For after loopback': {
    headers: { 'X-Forwarded-For': '127.0.0.1, 2001:db8::1' },
    says: 'the header X-Forwarded-For',
  },
  'X-Forwarded-For without a value': { headers: { 'X-Forwarded-For': '' }, says: 'the header X-Forwarded-For' },
  'X-Forwarded-Host': { headers: { 'X-Forwarded-Host': 'api.example.com' }, says: 'the header X-Forwarded-Host' },
  'X-Forwarded-Host that begins as loopback': {
    headers: { 'X-Forwarded-Host': 'localhost.example.com' },
    says: 'the header X-Forwarded-Host',
  },
  'X-Real-IP': { headers: { 'X-Real-IP': '192.0.2.1' }, says: 'the header X-Real-IP' },
  Forwarded: { headers: { Forwarded: 'for=127.0.0.1, for=192.0.2.1' }, says: 'the header Forwarded' },
  'Forwarded with a host': { headers: { Forwarded: 'proto=https;host=api.example.com' }, says: 'the header Forwarded' },
}

/** Direct requests of this machine, and those of its development proxies. */
export const DIRECT: Record<string, Passage> = {
  'without a proxy': { headers: {} },
  'of Vite’s proxy': {
    headers: {
      'X-Forwarded-For': '::ffff:127.0.0.1',
      'X-Forwarded-Host': 'localhost:5173',
      'X-Forwarded-Port': '5173',
      'X-Forwarded-Proto': 'http',
    },
  },
  'of Next.js’s proxy': {
    headers: { 'X-Forwarded-For': '::1', 'X-Forwarded-Host': 'localhost:3000', 'X-Forwarded-Proto': 'http' },
  },
  'of a proxy that forwards for loopback': {
    headers: {
      'X-Real-IP': '127.0.0.1',
      'X-Forwarded-For': '127.0.0.1, ::1',
      Forwarded: 'for=127.0.0.1;host="localhost:3000";proto=http, for="[::1]:40123"',
    },
  },
}
