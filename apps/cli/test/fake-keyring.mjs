// Loaded before the program: a keyring that keeps the keys in a file, in place of the one of the system.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const FILE = 'keyring.json'
const read = () => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {})

globalThis.FakeEntry = class {
  constructor(service, name) {
    this.id = `${service}/${name}`
  }
  getPassword() {
    return read()[this.id] ?? null
  }
  setPassword(password) {
    if (process.env.KEYRING_IS_LOCKED) throw new Error('no access')
    writeFileSync(FILE, JSON.stringify({ ...read(), [this.id]: password }))
  }
  deletePassword() {
    const { [this.id]: _, ...others } = read()
    writeFileSync(FILE, JSON.stringify(others))
  }
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@napi-rs/keyring'
      ? { url: 'data:text/javascript,export const Entry = globalThis.FakeEntry', shortCircuit: true }
      : next(specifier, context),
})
