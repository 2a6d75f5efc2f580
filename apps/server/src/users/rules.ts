import { contract } from '@resource/contract'
import { searchKey } from '@resource/database'
import { type CheckPassword, hashPasswords } from '../passwords/password-rules.ts'
import type { CollectionRules } from '../store/collection.ts'
import { invalid } from '../store/refusals.ts'

/** The rules of users (API rules U4, U9, U12 and U16). */
export function userRules(checkPassword: CheckPassword): CollectionRules<'users'> {
  return {
    derived: {
      // Case-insensitive uniqueness that works the same on every engine.
      email_key: { from: 'email', make: searchKey as never },
      password_hash: { from: 'password', check: checkPassword, prepare: hashPasswords },
    },
    procedures: ({ update, deleteWhere }) => ({
      setStatus: (input, context) => update(input, context) as never,

      // As specified: every user with the status, and `2 inactive users removed`.
      deleteWhere: async (input, context) => {
        if (input.status === undefined) return deleteWhere(input, context)
        // As over REST: a misspelled status must not look like a success.
        const { error } = contract.users.procedures.setStatus.input.shape.status.safeParse(input.status)
        if (error !== undefined) throw invalid('status', error.issues[0]?.message ?? 'is invalid')
        const { removed, message } = await deleteWhere(input, context, Number.MAX_SAFE_INTEGER - 1)
        return { removed, message: message.replace(' ', ` ${input.status} `) }
      },
    }),
  }
}
