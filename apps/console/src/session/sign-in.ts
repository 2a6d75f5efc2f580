import { useQuery } from '@tanstack/react-query'

const PATH = '/console/sign-in'

/** What the login form shows of the service. */
interface LoginOptions {
  /** The host of the identity provider; null without one. */
  provider: string | null
  /** After so long without use a session ends. */
  idle_minutes: number
}

/** What the login form shows; undefined until it is known. */
export function useLoginOptions(): LoginOptions | undefined {
  return useQuery({
    queryKey: ['login-options'],
    queryFn: async ({ signal }): Promise<LoginOptions> => (await fetch(`${PATH}/options`, { signal })).json(),
    staleTime: Number.POSITIVE_INFINITY,
  }).data
}

/** Where signing in at the identity provider begins. It leads back to this page. */
export function signInUrl(): string {
  const { pathname, search } = window.location
  return `${PATH}?to=${encodeURIComponent(pathname + (failureIn(search) === null ? search : ''))}`
}

const failureIn = (search: string) => new URLSearchParams(search).get('sign_in')

const FAILURES: Record<string, string> = {
  attempt: 'This sign-in took too long, or began in another window. Try again.',
  denied: 'The identity provider did not let you in, or you declined.',
  host: 'Signing in does not work at this address. Ask your operator to set PUBLIC_ORIGIN.',
  invalid: 'The answer of the identity provider was not valid. Try again, or tell your operator.',
  role: 'The identity provider knows you, but you have no role here. Ask your operator for one.',
  unavailable: 'The identity provider does not answer. Try again in a moment.',
}

/** Why a sign-in failed that has led to this page; empty if none has. */
export function signInFailure(): string {
  return FAILURES[failureIn(window.location.search) ?? ''] ?? ''
}

/** Removes the failure from the URL, so that it shows once. */
export function forgetSignInFailure(): void {
  const { pathname, search } = window.location
  if (failureIn(search) !== null) window.history.replaceState(window.history.state, '', pathname)
}

/** `12 hours`, `45 minutes`. */
export function idleTime(minutes: number): string {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute']
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
}
