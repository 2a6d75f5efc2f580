import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { usePreferences } from '../ui/preferences.ts'
import { PAGE_SIZES, pageCounts, sizeOf, type useView } from './view.ts'

interface Props {
  pages: ReturnType<typeof useView>
  /** The number of records on this page. */
  shown: number
  total: number
  next: string | null
}

/** The position in the list, and the way to other pages: by number, beyond the first 100,000 records by cursor. */
export function Pager({ pages, shown, total, next }: Props) {
  const { view, page } = pages
  const { last, reachable } = pageCounts(view, total)
  const isFirst = page === 1 && view.after === undefined
  const choose = (limit: number) => {
    usePreferences.setState({ pageSize: limit })
    pages.change({ limit })
  }
  return (
    <nav className="pager" aria-label="Pages">
      <p role="status">{position(pages, shown, total)}</p>
      <Choice
        label="Rows per page"
        className="inline"
        value={sizeOf(view)}
        options={PAGE_SIZES.map((size) => [size, String(size)])}
        onChange={(size) => choose(Number(size))}
      />
      <div className="buttons">
        <Button isDisabled={isFirst} onPress={() => pages.goToPage(1)}>
          First
        </Button>
        <Button isDisabled={isFirst} onPress={() => pages.previous(total)}>
          Previous
        </Button>
        <PageInput key={page} page={page} last={last} reachable={reachable} onChange={pages.goToPage} />
        <Button isDisabled={next === null} onPress={() => next !== null && pages.next(next)}>
          Next
        </Button>
        <Button isDisabled={page >= last || reachable < last} onPress={() => pages.goToPage(last)}>
          Last
        </Button>
      </div>
      {reachable < last && (
        <p className="hint">
          Pages beyond the first 100,000 records open only by Next. To see the end of the list, reverse the sort order.
        </p>
      )}
    </nav>
  )
}

/** `26–50 of 20,000` */
function position({ view, page }: Props['pages'], shown: number, total: number): string {
  const skipped = (page - 1) * sizeOf(view)
  const of = `of ${total.toLocaleString('en')}`
  // A cursor without a page number, in a link of an earlier version.
  if (view.after !== undefined && view.page === undefined) return `${shown} ${of}`
  if (shown === 0) return `0 ${of}`
  return `${(skipped + 1).toLocaleString('en')}–${(skipped + shown).toLocaleString('en')} ${of}`
}

interface PageInputProps {
  page: number
  last: number
  /** The last page that can be read by number. */
  reachable: number
  onChange: (page: number) => void
}

function PageInput({ page, last, reachable, onChange }: PageInputProps) {
  const [text, setText] = useState(String(page))
  const commit = () => {
    if (text === String(page)) return
    const wanted = Math.min(reachable, Math.max(1, Number.parseInt(text.replaceAll(',', ''), 10) || page))
    setText(String(wanted))
    if (wanted !== page) onChange(wanted)
  }
  return (
    <label className="inline">
      <span>Page</span>
      <input
        inputMode="numeric"
        size={5}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
      <span>of {last.toLocaleString('en')}</span>
    </label>
  )
}
