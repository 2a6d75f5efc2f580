import { ArrowDown, ArrowUp, CornerDownLeft, Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import { useLocation } from 'wouter'
import { resources } from '../../resources/index.ts'
import { formatCount } from '../../ui/format.ts'
import { type Offer, useActions, usePages } from './actions.ts'
import { useFound } from './find.ts'
import { Marked, matches } from './Marked.tsx'
import { offersOf } from './offers.ts'

const MOVES: Record<string, (index: number, last: number) => number> = {
  ArrowDown: (index, last) => (index < last ? index + 1 : 0),
  ArrowUp: (index, last) => (index > 0 ? index - 1 : last),
  PageDown: (index, last) => Math.min(index + 5, last),
  PageUp: (index) => Math.max(index - 5, 0),
}

/** Opens pages, actions and records by what is typed. Records are searched after a pause of typing. */
export default function Palette({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const id = useId()
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState('')
  const [index, setIndex] = useState(0)
  // Whether Enter was pressed before the records of the text had arrived.
  const [isEntered, setEntered] = useState(false)
  const text = typed.trim()
  const { found, asked, error, isWaiting } = useFound(text)
  const matching = (offers: Offer[]) => offers.filter((offer) => matches(offer.text, text))
  const groups = [
    { title: 'Pages', offers: matching(usePages()) },
    ...(text === '' ? [] : found.map((found) => offersOf(found, asked))),
    { title: 'Actions', offers: matching(useActions(onShortcuts)) },
  ].filter(({ offers }) => offers.length > 0)
  const offers = groups.flatMap(({ offers }) => offers)
  const active = offers[Math.min(index, offers.length - 1)]

  const choose = ({ target }: Offer) => {
    onClose()
    if (typeof target === 'function') target()
    else if ('page' in target) navigate(target.page)
    else window.location.assign(target.url)
  }
  useEffect(() => {
    if (!isEntered || isWaiting) return
    setEntered(false)
    if (active !== undefined) choose(active)
  })
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (active !== undefined) list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const press = (event: KeyboardEvent) => {
    const move = MOVES[event.key]
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      const all = offers.find(({ key }) => key.startsWith('all '))
      if ((event.ctrlKey || event.metaKey) && all !== undefined) choose(all)
      else if (isWaiting && text !== '') setEntered(true)
      else if (active !== undefined) choose(active)
    } else if (move !== undefined) {
      event.preventDefault()
      setIndex(move(Math.min(index, offers.length - 1), offers.length - 1))
    }
  }
  const records = resources.map(({ many }) => many).join(', ')
  return (
    <ModalOverlay className="overlay at-top" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className="palette">
        <Dialog aria-label="Search or jump to">
          <label className="row">
            <Search />
            <input
              autoFocus
              role="combobox"
              aria-label="Search or jump to"
              aria-expanded="true"
              aria-controls={id}
              aria-activedescendant={active && `${id}-${offers.indexOf(active)}`}
              aria-autocomplete="list"
              autoComplete="off"
              spellCheck={false}
              placeholder={`Pages, actions, ${records}`}
              value={typed}
              onChange={({ target }) => {
                setTyped(target.value)
                setIndex(0)
                setEntered(false)
              }}
              onKeyDown={press}
            />
            <kbd>Esc</kbd>
          </label>
          <div ref={list} id={id} className="results" role="listbox" aria-label="Results" aria-busy={isWaiting}>
            {groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list box
              <div key={group.title} role="group" aria-label={group.title}>
                <p aria-hidden="true">{group.title}</p>
                {group.offers.map((offer) => {
                  const { icon: Icon } = offer
                  return (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard stays in the input
                    <div
                      key={offer.key}
                      id={`${id}-${offers.indexOf(offer)}`}
                      role="option"
                      tabIndex={-1}
                      aria-selected={offer === active}
                      onClick={() => choose(offer)}
                    >
                      <Icon />
                      <span translate={offer.isData ? 'no' : undefined}>
                        <Marked text={offer.text} query={text} />
                      </span>
                      {offer.note !== undefined && (
                        <small translate="no" className={offer.isData ? undefined : 'keys'}>
                          {offer.note}
                        </small>
                      )}
                      {offer === active && <CornerDownLeft />}
                    </div>
                  )
                })}
              </div>
            ))}
          </div>
          <p role="status" className={offers.length > 0 && error === null ? 'hidden' : 'nothing-found'}>
            {error !== null && 'The records could not be searched. '}
            {!isWaiting && (offers.length === 0 ? 'Nothing matches.' : formatCount(offers.length, RESULTS))}
          </p>
          <footer aria-hidden="true">
            <span>
              <kbd>
                <ArrowUp />
              </kbd>{' '}
              <kbd>
                <ArrowDown />
              </kbd>{' '}
              move
            </span>
            <span>
              <kbd>Enter</kbd> open
            </span>
            <span>
              <kbd>Esc</kbd> close
            </span>
          </footer>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

const RESULTS = { one: 'result', many: 'results' }
