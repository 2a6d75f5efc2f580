/** A program that exports what a library around the client exports, and uses the React integration in every way. */
export const EXPORTS = `import { type AppRouter, type Change, type Client, createClient, type Input, type ListedRecord, type Output, type VersionedBook } from '@resource/client'
import { createResourceOptions } from '@resource/client/query'
import { useResource } from '@resource/client/react'
import {
  QueryClient,
  skipToken,
  useInfiniteQuery,
  useMutation,
  usePrefetchInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
  useSuspenseInfiniteQuery,
  useSuspenseQuery,
} from '@tanstack/react-query'

export const client = createClient({ baseUrl: 'http://127.0.0.1:3000' })
export const books = client.books
export const { users, items, changes } = client
export const bookChanges = client.changes({ resources: ['books'] })
export const readChanges = client.changes.list.query
export const create = client.books.create
export const createBook = client.books.create.mutate
export const { iterate, pages } = client.items
export const load = async () => (await client.books.list.query()).books
export const queryClient = new QueryClient()
export const resource = createResourceOptions(client, queryClient)
export const bookOptions = resource.books
export const listOptions = resource.books.list.queryOptions({ sort: 'title_asc' })
export const listKey = resource.books.list.queryKey()
export const pagesOptions = resource.books.pagesOptions({ limit: 20 })
export const titlesOptions = resource.books.pagesOptions(
  { limit: 20 },
  { select: ({ pages }) => pages.flatMap(({ books }) => books.map(({ title }) => title)), staleTime: 1_000 },
)
export const maybeOptions = (id?: number) => resource.books.get.queryOptions(id === undefined ? skipToken : { id })
export const maybePages = (on: boolean) => resource.books.pagesOptions(on ? { limit: 2 } : skipToken)
export const createOptions = resource.books.create.mutationOptions()
export const useOptions = () => useResource()
export const useBooks = () => useQuery(useResource().books.list.queryOptions({}))
export const useTitles = () =>
  useQuery(useResource().books.list.queryOptions({}, { select: ({ books }) => books.map(({ title }) => title) }))
export const useSuspenseBook = (id: number) => useSuspenseQuery(useResource().books.get.queryOptions({ id }))
export const usePages = () => useInfiniteQuery(useResource().books.pagesOptions({ limit: 20 }))
export const useSuspensePages = () => useSuspenseInfiniteQuery(useResource().books.pagesOptions({ limit: 20 }))
export const useSuspenseTitles = () => useSuspenseInfiniteQuery(titlesOptions)
export const useBoth = () =>
  useQueries({ queries: [bookOptions.get.queryOptions({ id: 1 }), resource.items.get.queryOptions({ id: 1 })] })
export const usePrefetched = () => usePrefetchInfiniteQuery(pagesOptions)
export const useRename = () => {
  const { books } = useResource()
  const cache = useQueryClient()
  return useMutation(
    books.replace.mutationOptions({
      onMutate: async (input) => {
        const key = books.get.queryKey({ id: input.id })
        await cache.cancelQueries({ queryKey: key })
        const previous = cache.getQueryData(key)
        cache.setQueryData(key, (book) => book && { ...book, title: input.title })
        return { previous }
      },
      onError: (error, input, context) => {
        error.code satisfies string
        cache.setQueryData(books.get.queryKey({ id: input.id }), context?.previous)
      },
    }),
  )
}
export const page = queryClient.getQueryData(pagesOptions.queryKey)
page?.pages[0]?.books[0]?.title satisfies string | undefined
export type BookChange = Change<'books'>
export type Form = Input<'books', 'create'>
export type Book = Output<'books', 'get'>
export type Router = AppRouter
export const same = (book: Book): VersionedBook & ListedRecord<'books'> => book
export const withClient = (given: Client): Client => given
`
