import { contract } from '@resource/contract'
import type { Session, Where } from '@resource/database'
import { type Caller, includesRole } from '../access/caller.ts'
import { unexpired } from '../access/sessions.ts'
import type { Config } from '../process/config.ts'
import type { Services } from '../store/context.ts'
import { readPage } from '../store/page.ts'
import { presenter } from '../store/presenter.ts'
import { notFound } from '../store/refusals.ts'

const present = presenter(contract.sessions.procedures.get.output)

/**
 * The service of sessions. Callers without the role `admin` have access to their own.
 *
 * @param onEnded called after a session has ended
 */
export function sessionService(config: Config, onEnded: () => void): Services['sessions'] {
  return {
    list: async ({ sort = 'id_desc', ...page }, { caller, read }) => {
      const where = { ...ownedBy(caller), ...unexpired(config) }
      const { rows, facts } = await readPage(read.sessions, where, { id: 'id' }, { sort, ...page })
      return { sessions: rows.map((row) => ({ ...present(row), current: row.id === caller.sessionId })), ...facts }
    },

    get: async ({ id }, { caller, read }) => {
      const row = await read.sessions.find({ id, ...ownedBy(caller), ...unexpired(config) })
      if (row === undefined) throw notFound('Session')
      return present(row)
    },

    end: async ({ id }, { caller, write }) => {
      const result = await write(async (tx) => {
        const row = await tx.sessions.find({ id, ...ownedBy(caller) }, ['id'])
        const [ended] = row === undefined ? [] : await tx.sessions.write([{ id, delete: true }])
        if (ended === undefined) throw notFound('Session')
        return { message: 'Session ended' }
      })
      onEnded()
      return result
    },
  }
}

function ownedBy(caller: Caller): Where<Session> {
  return includesRole(caller, 'admin') ? {} : { actor: caller.name }
}
