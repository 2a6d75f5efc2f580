import { contract, type Implementation } from '@resource/contract'
import type { Change, Database, Tables, User } from '@resource/database'
import { fieldRules } from '../access/fields.ts'
import type { Context } from '../context.ts'
import { type CheckPassword, hashPassword, hashPasswords } from '../password.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteUser, deleteUsersByStatus, findUser, insertUser, insertUsers, listUsers, updateUser } from './store.ts'

const { create, replace, update } = contract.users.procedures
const creation = fieldRules(create.input)
const replacement = fieldRules(replace.input)
const changes = fieldRules(update.input)

/** The rules of users (specification 2.1, 3 and 4.1). */
export function userService(database: Database, checkPassword: CheckPassword): Implementation<Context>['users'] {
  return {
    list: (input, { read }, shown) => listUsers(read, input, shown),

    get: ({ id }, { read }, shown) => findUser(read, id, shown),

    create: async (input, context) => {
      const { idempotency_key: _, password, ...fields } = input
      creation.checkValues(context.caller, fields)
      await checkPassword(password, 'password')
      return writeOnce(
        database,
        context,
        'users.create',
        input,
        (tx, password_hash) => insertUser(tx, { ...fields, password_hash }),
        { isSingle: true, isSecret: password !== undefined, prepare: () => hashPassword(password, context) },
      )
    },

    createMany: async (input, context) => {
      for (const [index, user] of input.users.entries()) creation.checkValues(context.caller, user, `[${index}]`)
      const passwords = input.users.map(({ password }) => password)
      for (const [index, password] of passwords.entries()) {
        await checkPassword(password, `[${index}].password`)
      }
      return writeOnce(
        database,
        context,
        'users.createMany',
        input,
        async (tx, hashes) => {
          const users = input.users.map(({ password: _, ...fields }, index) => ({
            ...fields,
            password_hash: hashes[index] ?? null,
          }))
          return { users: await insertUsers(tx, users) }
        },
        {
          isSecret: passwords.some((password) => password !== undefined),
          prepare: () => hashPasswords(passwords, context),
        },
      )
    },

    // Status and password stay, for the contract's input has neither; so do role and age where they are not sent.
    replace: (input, context) => {
      const { id, if_version, name, email, role, age } = input
      const check = ({ before, after }: Change<User>) => {
        if (before.role !== after.role) replacement.checkChange(context.caller, 'role')
      }
      const work = (tx: Tables) => updateUser(tx, id, if_version, { name, email, role, age }, check)
      return writeOnce(database, context, 'users.replace', input, work, {
        isSingle: replacement.allows(context.caller),
      })
    },

    update: async (input, context) => {
      const { id, if_version, idempotency_key: _, password, ...fields } = input
      if (password !== undefined) changes.checkChange(context.caller, 'password')
      await checkPassword(password, 'password')
      const check = ({ before, after }: Change<User>) => {
        if (before.role !== after.role) changes.checkChange(context.caller, 'role')
      }
      return writeOnce(
        database,
        context,
        'users.update',
        input,
        (tx, password_hash) =>
          updateUser(tx, id, if_version, { ...fields, ...(password !== undefined && { password_hash }) }, check),
        // Else a change that the caller may not make must be undone.
        {
          isSingle: fields.role === undefined || changes.allows(context.caller),
          isSecret: password !== undefined,
          prepare: () => hashPassword(password, context),
        },
      )
    },

    setStatus: (input, context) => {
      const { id, if_version, status } = input
      const work = (tx: Tables) => updateUser(tx, id, if_version, { status })
      return writeOnce(database, context, 'users.setStatus', input, work, { isSingle: true })
    },

    delete: (input, context) => {
      const work = async (tx: Tables) => {
        await deleteUser(tx, input.id, input.if_version)
        return { message: 'User deleted' }
      }
      return writeOnce(database, context, 'users.delete', input, work, { isSingle: true })
    },

    deleteByStatus: (input, context) =>
      writeOnce(database, context, 'users.deleteByStatus', input, async (tx) => {
        const removed = await deleteUsersByStatus(tx, input.status)
        return { removed, message: `${removed} ${input.status} ${removed === 1 ? 'user' : 'users'} removed` }
      }),
  }
}
