import { client } from '../client.ts'
import { describe } from './resource.ts'

export const users = describe({
  noun: 'users',
  title: 'Users',
  one: 'user',
  nameField: 'name',
  columns: {
    name: ['Name'],
    email: ['E-mail'],
    role: ['Role', 'badge'],
    status: ['Status', 'badge'],
    age: ['Age', 'number'],
    updated_at: ['Changed', 'time'],
  },
  filters: { role: 'Role', status: 'Status', age: 'Age' },
  fields: { name: 'Name', email: 'E-mail', password: 'Password', role: 'Role', status: 'Status', age: 'Age' },
  actions: [
    {
      label: 'Activate',
      verb: 'setStatus',
      done: 'activated',
      isFor: ({ status }) => status === 'inactive',
      apply: (user) => ({ ...user, status: 'active' as const }),
      send: ({ id }, if_version) => client.users.setStatus.mutate({ id, status: 'active', if_version }),
    },
    {
      label: 'Deactivate',
      verb: 'setStatus',
      done: 'deactivated',
      isFor: ({ status }) => status === 'active',
      apply: (user) => ({ ...user, status: 'inactive' as const }),
      send: ({ id }, if_version) => client.users.setStatus.mutate({ id, status: 'inactive', if_version }),
    },
  ],
  purge: {
    label: 'Delete inactive',
    verb: 'deleteByStatus',
    which: 'inactive',
    filter: { status: 'inactive' },
    send: () => client.users.deleteByStatus.mutate({ status: 'inactive' }),
  },
})
