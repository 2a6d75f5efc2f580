import { ChevronLeft, ChevronRight, ChevronsLeft, ChevronsRight, type LucideIcon } from 'lucide-react'
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
        label={
          <>
            Rows <span className="hidden">per page</span>
          </>
        }
        className="inline"
        value={sizeOf(view)}
        options={PAGE_SIZES.map((size) => [size, String(size)])}
        onChange={(size) => choose(Number(size))}
      />
      <div className="buttons">
        <Step icon={ChevronsLeft} label="First" isDisabled={isFirst} onPress={() => pages.goToPage(1)} />
        <Step icon={ChevronLeft} label="Previous" isDisabled={isFirst} onPress={() => pages.previous(total)} />
        <PageInput key={page} page={page} last={last} reachable={reachable} onChange={pages.goToPage} />
        <Step
          icon={ChevronRight}
          label="Next"
          isDisabled={next === null}
          onPress={() => next !== null && pages.next(next)}
        />
        <Step
          icon={ChevronsRight}
          label="Last"
          isDisabled={page >= last || reachable < last}
          onPress={() => pages.goToPage(last)}
        />
      </div>
      {reachable < last && (
        <p className="hint">
          Pages beyond the first 100,000 records open only by Next. To see the end of the list, reverse the sort order.
        </p>
      )}
    </nav>
  )
}

interface StepProps {
  icon: LucideIcon
  label: string
  isDisabled: boolean
  onPress: () => void
}

function Step({ icon: Icon, label, ...rest }: StepProps) {
  return <Button {...rest} className="button ghost icon small" icon={Icon} aria-label={label} />
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
