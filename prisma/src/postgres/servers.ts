import type pg from 'pg'
import { NoServer, Unreachable } from '../errors.ts'
import { isAway, reasonOf, sqlState } from './errors.ts'
import { type Answer, ask, type Role } from './server-role.ts'
import type { PostgresUrl, Target } from './url.ts'

/** Which servers are accepted, as by libpq. */
const ACCEPTS: Record<Target, (role: Role) => boolean> = {
  any: () => true,
  'prefer-standby': () => true,
  primary: ({ isStandby }) => !isStandby,
  'read-only': ({ isReadOnly }) => isReadOnly,
  'read-write': ({ isReadOnly }) => !isReadOnly,
  standby: ({ isStandby }) => isStandby,
}

/**
 * The servers that a URL names. All connections of a process go to one of them. After it fails or changes its role, all servers
 * are asked at once for their roles.
 */
export class Servers {
  readonly #urls: readonly string[]
  readonly #target: Target
  #chosen: Answer | undefined
  #choosing: Promise<Answer> | undefined
  readonly #clients = new Set<pg.Client>()

  /** @param urls one per server, in the order of preference */
  constructor(urls: readonly string[], target: Target) {
    this.#urls = urls
    this.#target = target
  }

  /**
   * Connects a client to the server in use.
   *
   * @param connect connects it to its `host` and `port`
   * @param limitMs how long to wait for the roles of the servers
   * @throws NoServer if no server has the wanted role; Unreachable if none answers
   */
  async connect(client: pg.Client, connect: () => Promise<unknown>, limitMs: number): Promise<void> {
    const server = this.#chosen ?? (await this.#find(limitMs))
    client.host = server.host
    client.port = server.port
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
    try {
      await connect()
    } catch (error) {
      if (this.#chosen === server && isAway(error)) this.#chosen = undefined
      throw error
    }
  }

  /** @throws NoServer if the server of a client does not have the wanted role: it has changed */
  verify(client: pg.Client, role: Role): void {
    if (this.#accepts(role)) return
    this.#leave(client)
    throw new NoServer(this.#target)
  }

  /** Takes note of a failed statement. A server that refuses a write has become a standby. */
  failed(client: pg.Client, error: object): void {
    if (this.#wantsPrimary && sqlState(error) === '25006') this.#leave(client)
  }

  get #wantsPrimary(): boolean {
    return this.#target === 'read-write' || this.#target === 'primary'
  }

  #accepts(role: Role | undefined, target = this.#target): boolean {
    return role !== undefined && ACCEPTS[target](role)
  }

  #leave({ host, port }: pg.Client): void {
    this.#chosen = undefined
    this.#close((client) => client.host === host && client.port === port)
  }

  /** Closes connections, whatever they wait for. A write whose confirmation is then missing is in doubt. */
  #close(isMeant: (client: pg.Client) => boolean): void {
    for (const client of this.#clients) if (isMeant(client)) client.connection.stream.destroy()
  }

  #find(limitMs: number): Promise<Answer> {
    this.#choosing ??= this.#choose(limitMs).finally(() => {
      this.#choosing = undefined
    })
    return this.#choosing
  }

  async #choose(limitMs: number): Promise<Answer> {
    const asked = this.#urls.map((url) => ask(url, limitMs))
    const server = (this.#wantsPrimary && (await this.#primary(asked))) || this.#preferred(await Promise.all(asked))
    this.#chosen = server
    // A connection to a server that has failed may wait for its answer for a long time.
    this.#close(({ host, port }) => host !== server.host || port !== server.port)
    return server
  }

  /** Does not wait for the other servers: at most one is the primary. */
  #primary(asked: Promise<Answer>[]): Promise<Answer | undefined> {
    const accepted = async (one: Promise<Answer>) => {
      const answer = await one
      if (!this.#accepts(answer.role)) throw answer.error
      return answer
    }
    return Promise.any(asked.map(accepted)).catch(() => undefined)
  }

  #preferred(answers: Answer[]): Answer {
    const first = (target: Target) => {
      for (const answer of answers) {
        if (this.#accepts(answer.role, target)) return answer
        // As in libpq: a wrong password, or too many connections, is no reason to use another server.
        if (answer.role === undefined && !isAway(answer.error)) throw answer.error
      }
      return undefined
    }
    const found = (this.#target === 'prefer-standby' && first('standby')) || first(this.#target)
    if (found) return found
    if (answers.some(({ role }) => role !== undefined)) throw new NoServer(this.#target)
    throw new Unreachable(answers.map(({ error }) => reasonOf(error)).join(', '))
  }
}

/** A URL whose connections share the choice of a server, if it leaves a choice. */
export interface SharedUrl extends PostgresUrl {
  servers?: Servers
}

export function withServers(url: PostgresUrl): SharedUrl {
  const { target, connectionStrings } = url
  return target === undefined ? url : { ...url, servers: new Servers(connectionStrings, target) }
}
