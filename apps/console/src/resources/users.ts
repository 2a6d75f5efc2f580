import type { ListedRecord } from '@resource/client'
import { writer } from '../client.ts'
import type { Action, Overrides } from './resource.ts'

type User = ListedRecord<'users'>

export const users: Overrides<'users'> = {
  labels: { email: 'E-mail' },
  actions: [toStatus('active', 'Activate', 'activated'), toStatus('inactive', 'Deactivate', 'deactivated')],
}

function toStatus(status: User['status'], label: string, done: string): Action<User> {
  return {
    label,
    verb: 'setStatus',
    done,
    changes: { status },
    isFor: (user) => user.status !== status,
    apply: (user) => ({ ...user, status }),
    send: ({ id }, if_version) => writer.users.setStatus.mutate({ id, status, if_version }),
  }
}
