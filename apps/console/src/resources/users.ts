import type { ListedRecord } from '@resource/client'
import { client } from '../client.ts'
import { LONG_TIMEOUTS } from './calls.ts'
import type { Action, Overrides } from './resource.ts'

type User = ListedRecord<'users'>

export const users: Overrides<'users'> = {
  labels: { email: 'E-mail', updated_at: 'Changed' },
  columns: ['updated_at'],
  actions: [toStatus('active', 'Activate', 'activated'), toStatus('inactive', 'Deactivate', 'deactivated')],
  purge: {
    label: 'Delete inactive',
    verb: 'deleteByStatus',
    which: 'inactive',
    filter: { status: 'inactive' },
    send: () => client.users.deleteByStatus.mutate({ status: 'inactive' }, LONG_TIMEOUTS),
  },
}

function toStatus(status: User['status'], label: string, done: string): Action<User> {
  return {
    label,
    verb: 'setStatus',
    done,
    changes: { status },
    isFor: (user) => user.status !== status,
    apply: (user) => ({ ...user, status }),
    send: ({ id }, if_version) => client.users.setStatus.mutate({ id, status, if_version }),
  }
}
