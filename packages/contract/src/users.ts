import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { errorField } from './errors.ts'
import {
  bulk,
  changedBy,
  changesOf,
  choiceFilter,
  conditional,
  givenBy,
  id,
  idempotencyKey,
  location,
  many,
  message,
  must,
  recordId,
  text,
  timestamp,
  version,
  whole,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'

const LONGEST_PASSWORD_BYTES = 1024
const bytes = new TextEncoder()

const name = text(1, 200).meta({ examples: ['Ada Lovelace'] })
const emailRule = must('a valid e-mail address of at most 254 characters')
// RFC 5321's dot-string at a domain name of two labels or more.
const EMAIL =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/
const email = z
  .email({ ...emailRule, pattern: EMAIL })
  .max(254, emailRule)
  .meta({ description: 'Kept as written; unique without regard to case.', examples: ['ada@example.com'] })
const role = z.enum(['admin', 'user'], must('admin or user'))
const status = z.enum(['active', 'inactive'], must('active or inactive'))
const age = whole(0, 150)
  .nullable()
  .meta({ examples: [36] })
const passwordRule = must(`text of at least 1 character and at most ${LONGEST_PASSWORD_BYTES} bytes`)
const password = z
  .string(passwordRule)
  .refine((value) => value !== '' && bytes.encode(value).byteLength <= LONGEST_PASSWORD_BYTES, passwordRule)
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    must('text without NUL characters and lone surrogates'),
  )
  .meta({
    description:
      'Stored only as an argon2id hash, never returned. A service with API keys or an identity provider asks for 8 characters or more and refuses common passwords.',
    minLength: 1,
    maxLength: LONGEST_PASSWORD_BYTES,
    writeOnly: true,
    format: 'password',
  })

/** The whole public record. */
const user = z
  .object({
    id,
    name: z.string().meta({ examples: ['Ada Lovelace'] }),
    email: z.string().meta({ examples: ['ada@example.com'] }),
    role,
    status,
    age,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'User' })

/** A record as tRPC shows it: `version` is what `if_version` of a later write names. */
const versioned = user.extend({ version }).meta({ id: 'VersionedUser' })

// What the doors show of a user (specification 4.1).
const summary = user.pick({ id: true, name: true, email: true, role: true }).meta({ id: 'UserSummary' })
const detail = user.pick({ id: true, name: true, email: true, role: true, created_at: true }).meta({ id: 'UserDetail' })
const changed = user
  .pick({ id: true, name: true, email: true, role: true, updated_at: true })
  .meta({ id: 'ChangedUser' })
const statusOnly = user.pick({ id: true, name: true, status: true, updated_at: true }).meta({ id: 'UserStatus' })
const listing = user
  .pick({ name: true, email: true })
  .transform(({ name, email }) => ({ username: name, email }))
  .pipe(z.object({ username: z.string().meta({ examples: ['Ada Lovelace'] }), email: user.shape.email }))
  .meta({ id: 'UserListing' })

const newUser = z
  .object(
    {
      name,
      email,
      password: password.optional(),
      role: givenBy({ admin: 'admin' }, role).default('user'),
      status: status.default('active'),
      age: age.default(null),
    },
    must('an object'),
  )
  .meta({ id: 'NewUser' })

const SORTABLE = ['id', 'name', 'username', 'email', 'role', 'status', 'age', 'created_at', 'updated_at'] as const

// What tells the doors apart.
const main = { trailingSlash: 'significant' } as const
const simple = { trailingSlash: 'optional', params: { user_id: 'id' } } as const
const slash = { trailingSlash: 'significant', aliases: { username: 'name' } } as const

export const users = resource({
  tag: 'Users',
  description:
    'One collection, three doors. `/api/users` is the main one; `/users` shows the whole public record and merges on PUT; `/api/users/`, with its trailing slash, lists `username` and `email` alone.',
  errorForm: errorField,
  lookup: 'get',
  procedures: {
    /** List users. Filtered by `role`, `status` and `age`, in the order `sort` says. */
    list: query({
      input: listInput(
        {
          role: choiceFilter(role).optional(),
          status: choiceFilter(status).optional(),
          age: age.unwrap().optional(),
        },
        SORTABLE,
      ),
      output: z.object({ users: z.array(versioned), ...pageFacts }),
      meta: {
        openapi: {
          ...main,
          method: 'GET',
          path: '/api/users',
          operationId: 'listUsers',
          summary: 'List users',
          description: 'Filtered by `role`, `status` and `age`, in the order `sort` says.',
          successDescription: 'A page of users.',
          responseBody: 'users',
          response: pageOf(summary),
          envelope: 'users',
          headers: pageHeaders,
          additionalBindings: [
            {
              ...simple,
              path: '/users',
              operationId: 'listWholeUsers',
              summary: 'List whole user records',
              description: 'Every public field of each user; the same filters and sorts as at the main door.',
              response: pageOf(user),
            },
            {
              ...slash,
              path: '/api/users/',
              operationId: 'listUsernames',
              summary: 'List user names and e-mail addresses',
              description: "`username` is a user's `name`; the same filters and sorts as at the main door.",
              response: pageOf(listing),
            },
          ],
        },
      },
    }),

    /** Get a user. `ETag` names the version read; send it back as `If-Match` to write only what you have seen. */
    get: query({
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          ...main,
          method: 'GET',
          path: '/api/users/{id}',
          operationId: 'getUser',
          summary: 'Get a user',
          description: '`ETag` names the version read; send it back as `If-Match` to write only what you have seen.',
          successDescription: 'The user.',
          response: detail,
          envelope: 'user',
          etag: 'version',
          additionalBindings: [
            {
              ...simple,
              path: '/users/{user_id}',
              operationId: 'getWholeUser',
              summary: 'Get a whole user record',
              description: 'Every public field, `status` and `age` among them.',
              response: user,
            },
            {
              ...slash,
              path: '/api/users/{id}/',
              operationId: 'getUserAtSlash',
              summary: 'Get a user (trailing slash)',
              description: 'The same answer as without the slash.',
            },
          ],
        },
      },
    }),

    /**
     * Create a user. A role left out is `user`, a status left out is `active`. A taken e-mail address is a 409. The role
     * `admin` can be given by admins alone, once there are API keys.
     */
    create: mutation({
      input: newUser.extend({ idempotency_key: idempotencyKey }),
      output: versioned,
      errors: [409],
      meta: {
        openapi: {
          ...main,
          method: 'POST',
          path: '/api/users',
          operationId: 'createUser',
          summary: 'Create a user',
          description:
            'A role left out is `user`, a status left out is `active`. A taken e-mail address is a 409. Without a JSON body: 400 `No input data provided`.',
          successDescription: 'The created user.',
          status: 201,
          otherMediaType: 400,
          response: detail,
          envelope: 'user',
          etag: 'version',
          headerParams: writeHeaders,
          headers: location('/api/users/{id}'),
          additionalBindings: [
            {
              ...simple,
              path: '/users',
              operationId: 'createWholeUser',
              summary: 'Create a user, answered whole',
              response: user,
              headers: location('/users/{id}'),
            },
            {
              ...slash,
              path: '/api/users/',
              operationId: 'createUserAtSlash',
              summary: 'Create a user (trailing slash)',
              description:
                'Takes the name as `name` or as `username`. Without a JSON body: 400 `No input data provided`.',
              headers: location('/api/users/{id}/'),
            },
          ],
        },
      },
    }),

    /**
     * Create many users. 1 to 1,000 users, all or none, answered in the order sent. An error names the index and the
     * field.
     */
    createMany: mutation({
      input: z.object({ users: many(newUser, 'users'), idempotency_key: idempotencyKey }),
      output: z.object({ users: z.array(versioned) }),
      errors: [409],
      meta: {
        openapi: {
          ...bulk('users'),
          method: 'POST',
          path: '/api/users/bulk',
          operationId: 'createUsers',
          summary: 'Create many users',
          response: pageOf(detail),
        },
      },
    }),

    /**
     * Replace a user. Name, e-mail address and role are required. Age is set if it is sent; status and password stay. Only
     * admins may change the role, once there are API keys.
     */
    replace: mutation({
      input: z.object({ id: recordId, name, email, role: changedBy('admin', role), age: age.optional(), ...write }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...main,
          ...conditional,
          method: 'PUT',
          path: '/api/users/{id}',
          operationId: 'replaceUser',
          summary: 'Replace a user',
          description:
            '`name`, `email` and `role` are required. `age` is set if it is sent; `status` and `password` stay.',
          successDescription: 'The replaced user.',
          response: changed,
          envelope: 'user',
          etag: 'version',
          additionalBindings: [
            {
              ...slash,
              path: '/api/users/{id}/',
              operationId: 'replaceUserAtSlash',
              summary: 'Replace a user (trailing slash)',
              description:
                'Takes the name as `name` or as `username`; `email` is required. `role` and `age` are set if they are sent; `status` and `password` stay.',
              optional: ['role'],
            },
          ],
        },
      },
    }),

    /** Update a user. Changes the fields that are sent. Only admins may change role or password, once there are API keys. */
    update: mutation({
      input: changesOf({
        name,
        email,
        password: changedBy('admin', password),
        role: changedBy('admin', role),
        status,
        age,
      }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...main,
          ...conditional,
          method: 'PATCH',
          path: '/api/users/{id}',
          operationId: 'updateUser',
          summary: 'Update a user',
          description: 'Changes the fields that are sent.',
          successDescription: 'The updated user.',
          response: changed,
          envelope: 'user',
          etag: 'version',
          additionalBindings: [
            {
              ...simple,
              method: 'PUT',
              path: '/users/{user_id}',
              operationId: 'mergeUser',
              summary: 'Merge into a user',
              description: 'Changes the fields that are sent, although it is a PUT.',
              response: user,
            },
            {
              ...slash,
              path: '/api/users/{id}/',
              operationId: 'updateUserAtSlash',
              summary: 'Update a user (trailing slash)',
              description: 'Changes the fields that are sent; takes the name as `name` or as `username`.',
            },
          ],
        },
      },
    }),

    /** Activate or deactivate a user. Both statuses can be left for the other at any time. */
    setStatus: mutation({
      input: z.object({ id: recordId, status, ...write }),
      output: versioned,
      errors: [404, 409],
      meta: {
        openapi: {
          ...conditional,
          method: 'PATCH',
          path: '/api/users/{id}/status',
          operationId: 'setUserStatus',
          summary: 'Activate or deactivate a user',
          description: 'Both statuses can be left for the other at any time.',
          successDescription: 'The user with the new status.',
          response: statusOnly,
          envelope: 'user',
          etag: 'version',
        },
      },
    }),

    /** Delete a user. The id is never given to another user. */
    delete: mutation({
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      meta: {
        openapi: {
          ...main,
          ...conditional,
          method: 'DELETE',
          path: '/api/users/{id}',
          operationId: 'deleteUser',
          summary: 'Delete a user',
          description: 'The id is never given to another user.',
          successDescription: 'The user is gone.',
          additionalBindings: [
            {
              ...simple,
              path: '/users/{user_id}',
              operationId: 'deleteWholeUser',
              summary: 'Delete a user, answered empty',
              description: 'As at the main door, with an empty answer.',
              status: 204,
            },
            {
              ...slash,
              path: '/api/users/{id}/',
              operationId: 'deleteUserAtSlash',
              summary: 'Delete a user (trailing slash)',
              description: 'As at the main door, with an empty answer.',
              status: 204,
            },
          ],
        },
      },
    }),

    /** Delete all users of a status. Needs `status` and takes no other filter; without it nothing is removed. */
    deleteByStatus: mutation({
      access: 'admin',
      // Strict, so that no filter is passed over: what is sent beside the status would have narrowed the removal.
      input: z.strictObject({ status, idempotency_key: idempotencyKey }),
      output: message.extend({ removed: z.int() }),
      errors: [409],
      meta: {
        openapi: {
          ...main,
          method: 'DELETE',
          path: '/api/users',
          operationId: 'deleteUsersByStatus',
          summary: 'Delete all users of a status',
          description: 'Needs `status` and takes no other filter; without it nothing is removed.',
          successDescription: 'How many users were removed.',
          response: message,
          headerParams: writeHeaders,
        },
      },
    }),
  },
})
