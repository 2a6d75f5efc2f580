import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import type { PrismaClient, User } from '../../generated/sqlite/client.ts'
import { databaseFile, databaseUrl, engine, poolSize } from '../settings.ts'
import { bookRow, itemRow, type Store, sorting, userRows } from './store.ts'

export async function prismaStore(): Promise<Store> {
  const prisma = await (engine === 'sqlite' ? openSqlite() : openPostgresql())
  const hasCode = (error: unknown, code: string) => (error as { code?: string }).code === code
  return {
    findUser: async (id) => {
      const user = await prisma.user.findUnique({ where: { id } })
      return user === null ? undefined : fullUser(user)
    },

    listUsers: ({ role, status, age, page, limit, sort }) => {
      const { column, direction } = sorting(sort)
      return prisma.user.findMany({
        where: { ...(role && { role }), ...(status && { status }), ...(age !== undefined && { age }) },
        orderBy: column === 'id' ? { id: direction } : [{ [column]: direction }, { id: 'asc' }],
        skip: (page - 1) * limit,
        take: limit,
        select: { id: true, name: true, email: true, role: true },
      })
    },

    insertBook: (book) =>
      prisma.book.create({ data: bookRow(book), omit: { version: true, title_key: true, author_key: true } }),

    updateItem: async (id, changes) => {
      const given = Object.entries(itemRow(changes)).filter(([, value]) => value !== undefined)
      const data = { ...Object.fromEntries(given), version: { increment: 1 } }
      try {
        return await prisma.item.update({ where: { id }, data, omit: { version: true, name_key: true } })
      } catch (error) {
        if (hasCode(error, 'P2025')) return undefined
        throw error
      }
    },

    insertUsers: async (users) => {
      try {
        const rows = await prisma.user.createManyAndReturn({ data: await userRows(users) })
        return rows
          .sort((a, b) => a.id - b.id)
          .map(({ id, name, email, role, created_at }) => ({
            id,
            name,
            email,
            role,
            created_at: created_at.toISOString(),
          }))
      } catch (error) {
        if (hasCode(error, 'P2002')) return undefined
        throw error
      }
    },
  }
}

async function openSqlite(): Promise<PrismaClient> {
  const { PrismaClient } = await import('../../generated/sqlite/client.ts')
  const adapter = new PrismaBetterSqlite3({ url: databaseFile }, { timestampFormat: 'unixepoch-ms' })
  const prisma = new PrismaClient({ adapter })
  await prisma.$executeRaw`PRAGMA synchronous = FULL`
  return prisma
}

// The two generated clients have the same types for the operations used here.
async function openPostgresql(): Promise<PrismaClient> {
  const { PrismaClient } = await import('../../generated/postgresql/client.ts')
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: databaseUrl, max: poolSize }) }) as never
}

function fullUser({ id, name, email, role, status, age, created_at, updated_at, version }: User) {
  return {
    id,
    name,
    email,
    role,
    status,
    age,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    version,
  }
}
