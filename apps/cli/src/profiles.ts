import { join } from 'node:path'
import { configFolder } from './environment.ts'
import { invalid } from './failures.ts'
import { jsonFile } from './json-file.ts'

export interface Profile {
  url: string
  /** Where the API key is; undefined without a key. */
  storage?: 'keyring' | 'file'
  /** The key itself, if `storage` is `file`. */
  key?: string
}

export interface Profiles {
  /** The profile in use without `--profile`. */
  current: string | undefined
  profiles: Record<string, Profile>
}

const file = () => jsonFile<Profiles>(join(configFolder(), 'profiles.json'))

export function readProfiles(): Profiles {
  return file().read() ?? { current: undefined, profiles: {} }
}

/**
 * The profile of this name, or the current one without a name.
 *
 * @throws Failure if there is none of this name, unless it `mayBeNew`
 */
export function profileNamed(
  name: string | undefined,
  mayBeNew = false,
): { name: string; profile: Profile } | undefined {
  const { current, profiles } = readProfiles()
  const wanted = name ?? current
  const profile = wanted !== undefined && Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined
  if (wanted !== undefined && profile !== undefined) return { name: wanted, profile }
  if (name === undefined || mayBeNew) return undefined
  const known = Object.keys(profiles).join(', ') || 'none'
  throw invalid(
    `--profile: there is no profile ${name} (profiles: ${known}). Create it with "resource login --profile ${name}"`,
  )
}

/**
 * Stores a profile and makes it the current one. The key goes into the keyring of the system. If there is none, or
 * `useFile`, it goes into the file of the profiles, which only its owner can read.
 *
 * @returns where the key is
 */
export async function storeProfile(name: string, url: string, key: string | undefined, useFile: boolean) {
  await forgetKey(name)
  const { profiles } = readProfiles()
  const storage = key === undefined ? undefined : !useFile && (await keyring.set(name, key)) ? 'keyring' : 'file'
  const profile: Profile = { url, ...(storage && { storage }), ...(storage === 'file' && key && { key }) }
  file().write({ current: name, profiles: { ...profiles, [name]: profile } })
  return { storage, path: file().path }
}

/** Removes a profile and its key. */
export async function removeProfile(name: string): Promise<void> {
  await forgetKey(name)
  const { current, profiles } = readProfiles()
  const { [name]: _, ...others } = profiles
  file().write({ current: current === name ? undefined : current, profiles: others })
}

export function useProfile(name: string): void {
  file().write({ ...readProfiles(), current: name })
}

/** @throws Failure if the key is in a keyring that cannot be read */
export async function keyOf(name: string, { storage, key }: Profile): Promise<string | undefined> {
  if (storage !== 'keyring') return key
  const stored = await keyring.get(name)
  if (stored !== undefined) return stored
  throw invalid(
    `The key of the profile ${name} is not in the keyring, or the keyring is locked: run "resource login --profile ${name}"`,
  )
}

async function forgetKey(name: string): Promise<void> {
  if (profileNamed(name, true)?.profile.storage === 'keyring') await keyring.remove(name)
}

/** The keyring of the system: Keychain, Credential Manager or Secret Service. */
const keyring = {
  /** @returns whether the key is stored */
  async set(name: string, key: string): Promise<boolean> {
    try {
      const entry = await entryOf(name)
      entry.setPassword(key)
      return entry.getPassword() === key
    } catch {
      return false
    }
  },
  async get(name: string): Promise<string | undefined> {
    try {
      return (await entryOf(name)).getPassword() ?? undefined
    } catch {
      return undefined
    }
  },
  async remove(name: string): Promise<void> {
    try {
      ;(await entryOf(name)).deletePassword()
    } catch {
      // Without the keyring nobody can read the key either.
    }
  },
}

async function entryOf(name: string) {
  // Native code, loaded only for keys in a keyring.
  const { Entry } = await import('@napi-rs/keyring')
  // Not the kernel's keyring, which is empty after a restart.
  return new Entry('resource', name, { linux: { store: 'secret-service' } })
}
