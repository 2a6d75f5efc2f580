import { bearer } from './harness.ts'

/** Logs in to the console and returns the cookie as the browser would send it. */
export async function logIn({ url }: { url: string }, key: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/console/session`, { method: 'POST', headers: { ...bearer(key), ...headers } })
  const [cookie = '', ...attributes] = answer.headers.get('set-cookie')?.split('; ') ?? []
  return { status: answer.status, body: await answer.json(), cookie, attributes }
}

/** The status and the message of a read with a cookie. */
export async function readWith({ url }: { url: string }, cookie: string): Promise<[number, string | undefined]> {
  const answer = await fetch(`${url}/items`, { headers: { Cookie: cookie } })
  const { message } = (await answer.json()) as { message?: string }
  return [answer.status, message]
}
