import { useQuery } from '@tanstack/react-query'
import { calls, type Page } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { deepestPage, filtersOf, listInputOf, queryOf, sizeOf, type View, viewOf } from '../table/view.ts'

/** A record next to another one, and the query string of the list in which it is. */
export interface Neighbor {
  id: number
  from: string | undefined
}

/** Where a record stands in a list. */
export interface Standing {
  position: number
  total: number
  previous: Neighbor | undefined
  next: Neighbor | undefined
}

/**
 * The records before and after a record.
 *
 * @param from the query string of the list from which the reader came; without it, the list of all records by id
 */
export function useNeighbors(resource: Resource, id: number, from: string | undefined) {
  return useQuery({
    queryKey: [resource.noun, 'neighbors', id, from],
    queryFn: async ({ signal }) => {
      const view = viewOf(resource, from ?? '')
      const isById = view.sort === undefined || view.sort === 'id_asc'
      const found = isById ? undefined : await inView(resource, view, id, signal)
      return found ?? (await inOrderOfId(resource, isById ? view : {}, id, isById ? from : undefined, signal))
    },
  })
}

async function inOrderOfId(
  resource: Resource,
  view: View,
  id: number,
  from: string | undefined,
  signal: AbortSignal,
): Promise<Standing> {
  const { noun } = resource
  const input = { ...filtersOf(resource, view), limit: 1, count: true }
  const { list } = calls(noun)
  const [before, after] = await Promise.all([
    list.query({ ...input, id_lt: id, sort: 'id_desc' }, { signal }),
    list.query({ ...input, id_gte: id + 1, sort: 'id_asc' }, { signal }),
  ])
  const neighbor = (page: Page): Neighbor | undefined => {
    const [row] = page[noun] as Row[]
    return row && { id: row.id, from }
  }
  const position = (before.total ?? 0) + 1
  return { position, total: position + (after.total ?? 0), previous: neighbor(before), next: neighbor(after) }
}

/** In the order of a view, from its page; undefined if the record is no longer there. */
async function inView(resource: Resource, view: View, id: number, signal: AbortSignal): Promise<Standing | undefined> {
  const { noun } = resource
  const read = (view: View) => calls(noun).list.query(listInputOf(resource, view), { signal })
  const page = view.page ?? 1
  const here = await read(view)
  const rows = here[noun] as Row[]
  const index = rows.findIndex((row) => row.id === id)
  if (index === -1) return undefined
  const neighbor = (row: Row | undefined, view: View): Neighbor | undefined =>
    row && { id: row.id, from: `?${queryOf({ ...view, open: undefined })}` }
  const onPage = async (view: View, at: number) => neighbor(((await read(view))[noun] as Row[]).at(at), view)
  const before: View = { ...view, page: page - 1 }
  const after: View = {
    ...view,
    page: page + 1,
    after: page < deepestPage(view) ? undefined : (here.next ?? undefined),
  }
  const hasBefore = page > 1 && view.after === undefined
  return {
    position: (page - 1) * sizeOf(view) + index + 1,
    total: here.total ?? rows.length,
    previous: index > 0 ? neighbor(rows[index - 1], view) : hasBefore ? await onPage(before, -1) : undefined,
    next: rows[index + 1] ? neighbor(rows[index + 1], view) : here.next ? await onPage(after, 0) : undefined,
  }
}
