// Starts test servers for tests of other packages, which may not import the service: many in one process, because a
// process takes ten times as long to start as a server.
import { createTestServer } from '../src/testing/testing.ts'

/** How to stop each server, by its URL. */
const stops = new Map<string, () => Promise<void>>()

// The URL of a server to stop, or `sign-in` for one with an identity provider, or nothing for one without.
process.on('message', async (message: string) => {
  if (message.startsWith('http')) return stop(message)
  const { url, stop: end } = message === 'sign-in' ? await startWithProvider() : await createTestServer()
  stops.set(url, end)
  process.send?.(url)
})

process.on('disconnect', async () => {
  await Promise.all([...stops.keys()].map(stop))
  process.exit()
})

async function startWithProvider() {
  const { SIGN_IN, startIdentityProvider } = await import('./identity-provider.ts')
  const provider = await startIdentityProvider(true)
  const server = await createTestServer({ environment: { ...SIGN_IN, OIDC_ISSUER: provider.issuer } })
  const end = async () => {
    await server.stop()
    await provider.stop()
  }
  return { url: server.url, stop: end }
}

async function stop(url: string) {
  await stops.get(url)?.()
  stops.delete(url)
}
