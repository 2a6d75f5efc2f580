import { Button } from '../ui/Button.tsx'
import { PAGE_SIZES, sizeOf, type useView, type View } from './view.ts'

interface Props {
  view: View
  next: string | null
  pages: ReturnType<typeof useView>
}

/** Pages through the list by cursor: each page costs the same, however far it is. */
export function Pager({ view, next, pages }: Props) {
  return (
    <nav className="pager" aria-label="Pages">
      <label className="filter">
        <span>Rows per page</span>
        <select value={sizeOf(view)} onChange={(event) => pages.change({ limit: Number(event.target.value) })}>
          {PAGE_SIZES.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <Button isDisabled={view.after === undefined} onPress={pages.first}>
        First
      </Button>
      <Button isDisabled={!pages.hasPrevious} onPress={pages.previous}>
        Previous
      </Button>
      <Button isDisabled={next === null} onPress={() => next !== null && pages.next(next)}>
        Next
      </Button>
    </nav>
  )
}
