import { request } from 'node:http'

// An address that does no harm.
const ADDRESS = '127.0.2.1'

export interface Asked {
  key?: string
  /** Sent by POST. */
  json?: unknown
  /** 200 when absent. */
  status?: number
}

/**
 * Asks on a connection that ends with the answer, so that none of its own is left.
 *
 * @returns the answer's body
 * @throws Error with the answer, where its status is another
 */
export function ask(url: string, { key, json, status = 200 }: Asked = {}): Promise<string> {
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
