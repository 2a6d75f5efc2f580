import { request } from 'node:http'

// An address that sends no hostile requests.
const ADDRESS = '127.0.2.1'

interface AskOptions {
  key?: string
  /** Request body; makes the request a POST. */
  json?: unknown
  /** Expected status, default 200. */
  status?: number
}

/**
 * Sends a request on a new connection that closes with the response, so that it adds no idle connection.
 *
 * @returns the response body
 * @throws Error with the response when its status is unexpected
 */
export function ask(url: string, { key, json, status = 200 }: AskOptions = {}): Promise<string> {
  const headers = {
    connection: 'close',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
  }
  const method = json === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, localAddress: ADDRESS, method, headers }, async (answer) => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      if (answer.statusCode === status) resolve(text)
      else reject(new Error(`${method} ${url} answered ${answer.statusCode} ${text}`))
    })
    sent.on('error', reject)
    sent.end(json === undefined ? undefined : JSON.stringify(json))
  })
}
