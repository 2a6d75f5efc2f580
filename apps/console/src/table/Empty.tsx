import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { filtersOf, type useView, withoutFilters } from './view.ts'

interface Props {
  resource: Resource
  pages: ReturnType<typeof useView>
  canCreate: boolean
}

/** Explains why the table is empty, and what to do. */
export function Empty({ resource, pages, canCreate }: Props) {
  const { view } = pages
  if ((view.page ?? view.after) !== undefined)
    return <EmptyPage resource={resource} onFirst={() => pages.goToPage(1)} />
  if (Object.keys(filtersOf(resource, view)).length > 0) {
    return (
      <div className="state">
        <h2>No {resource.one} matches</h2>
        <p>Only records that match all filters show.</p>
        <Button onPress={() => pages.change(withoutFilters(resource))}>Show all {resource.many}</Button>
      </div>
    )
  }
  return (
    <div className="state">
      <h2>No {resource.many} yet</h2>
      {canCreate ? (
        <>
          <p>Create the first one, or import a file.</p>
          <div className="buttons">
            <Button className="button primary" onPress={() => pages.open('new')}>
              Create the first {resource.one}
            </Button>
            <Button onPress={() => pages.open('import')}>Import a file</Button>
          </div>
        </>
      ) : (
        <p>Your role cannot create {resource.many}. They appear here once someone creates them.</p>
      )}
    </div>
  )
}

/** A page whose records were deleted, or whose link has an invalid page number or cursor. */
export function EmptyPage({ resource, onFirst }: { resource: Resource; onFirst: () => void }) {
  return (
    <div className="state">
      <h2>This page is empty</h2>
      <p>The {resource.many} on this page were deleted, or the link belongs to another list.</p>
      <Button onPress={onFirst}>Go to the first page</Button>
    </div>
  )
}
