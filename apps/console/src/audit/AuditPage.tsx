import { useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { ReversalDialog } from '../changes/ReversalDialog.tsx'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { ListTable } from '../ui/ListTable.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { useTitle } from '../ui/title.ts'
import { AuditFilters, PERIODS } from './AuditFilters.tsx'
import { AuditLine } from './AuditLine.tsx'
import { type Line, resourceOf } from './entries.ts'
import { GroupReversalDialog } from './GroupReversalDialog.tsx'
import type { LogFilter } from './log.ts'
import { type Filters, useLog } from './use-log.ts'

const COLUMNS: [string, string?][] = [['Time', 'tight'], ['Who', 'tight'], ['What'], ['Change']]
const CHANGES = { one: 'change', many: 'changes' }
const NAMES = ['when', 'actor', 'procedure', 'resource', 'record_id', 'request_id'] as const

/** Who changed what, newest first, each change with its undo. */
export default function AuditPage() {
  useTitle('Audit log')
  const [search, setSearch] = useSearchParams()
  const [isFollowing, setFollowing] = useState(true)
  const [asked, ask] = useState<Line>()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const text = search.toString()
  const filters = useMemo((): Filters => {
    const given = new URLSearchParams(text)
    return Object.fromEntries(NAMES.flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : [])))
  }, [text])
  const { query, lines, isFresh } = useLog(
    useMemo(() => logFilter(filters), [filters]),
    isFollowing,
  )
  const undoable = asked && resourceOf(asked.entry)
  const toggle = (key: string) =>
    setOpen((before) => new Set(before.has(key) ? [...before].filter((other) => other !== key) : [...before, key]))
  return (
    <div className="page" aria-busy={query.isFetching}>
      <div className="row page-head in-line">
        <h1>Audit log</h1>
        <div className="buttons">
          <Button
            className={isFollowing ? 'button pressed' : 'button'}
            aria-pressed={isFollowing}
            onPress={() => setFollowing(!isFollowing)}
          >
            <span className={isFollowing ? 'dot live' : 'dot off'} />
            {isFollowing ? 'Following' : 'Follow'}
          </Button>
        </div>
      </div>
      <AuditFilters
        filters={filters}
        entries={lines.map(({ entry }) => entry)}
        onChange={(changes) => {
          const next = Object.entries({ ...filters, ...changes }).filter(
            (pair): pair is [string, string] => pair[1] !== undefined,
          )
          setSearch(Object.fromEntries(next))
        }}
      />
      <Loaded query={query} title="The audit log cannot be loaded" waiting="Loading the audit log…">
        {() =>
          lines.length === 0 ? (
            <div className="empty">
              <h2>{text === '' ? 'Nothing has changed yet' : 'No change matches'}</h2>
              <p>Every write of a record has an entry here: who, when, and the record before and after.</p>
              {text !== '' && <Button onPress={() => setSearch({})}>Clear filters</Button>}
            </div>
          ) : (
            <ListTable label="Audit log" columns={COLUMNS}>
              {lines.map((line) => (
                <AuditLine
                  key={line.key}
                  line={line}
                  isFresh={isFresh(line.entry)}
                  isOpen={open.has(line.key)}
                  onToggle={() => toggle(line.key)}
                  onUndo={() => ask(line)}
                />
              ))}
            </ListTable>
          )
        }
      </Loaded>
      {lines.length > 0 && (
        <div className="pager">
          <p>{query.hasNextPage ? `The newest ${formatCount(lines.length, CHANGES)}` : 'All changes are shown'}</p>
          {query.hasNextPage && (
            <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
              Load older
            </Button>
          )}
        </div>
      )}
      {undoable !== undefined && asked !== undefined && (
        <Reversal resource={undoable} line={asked} onClose={() => ask(undefined)} />
      )}
    </div>
  )
}

function Reversal({ line, ...props }: { resource: Resource; line: Line; onClose: () => void }) {
  const { group, request_id } = line.entry
  if (group !== null && line.total > 1) return <GroupReversalDialog {...props} group={group} line={line} />
  return <ReversalDialog {...props} requestId={request_id ?? ''} isImmediate />
}

function logFilter({ when = '', record_id, ...filters }: Filters): LogFilter {
  const { hours } = PERIODS[when] ?? {}
  const set = Object.entries(filters).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(set),
    ...(record_id !== undefined && { record_id: Number(record_id) }),
    ...(hours !== undefined && { at_gte: new Date(Date.now() - hours * 3_600_000).toISOString() }),
  }
}
