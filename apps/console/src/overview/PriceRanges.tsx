import type { CategoryPrices } from './counts.ts'

const SHOWN = 8

interface Props {
  categories: CategoryPrices[]
  isPartial: boolean
}

/** The lowest, mean and highest price of each category: a line for the range and a tick at the mean. */
export function PriceRanges({ categories, isPartial }: Props) {
  const top = Math.max(1, ...categories.map(({ highest }) => highest))
  const at = (price: number) => (100 * price) / top
  if (categories.length === 0) return <p className="waiting">No items yet, so there are no prices to show.</p>
  return (
    <>
      <table className="bars prices">
        <caption>
          Prices by category
          {categories.length > SHOWN && <span className="hint"> the {SHOWN} with the most items</span>}
        </caption>
        <thead>
          <tr>
            <th scope="col">Category</th>
            <td className="drawn" />
            <th scope="col">Items</th>
            <th scope="col">Lowest</th>
            <th scope="col">Mean</th>
            <th scope="col">Highest</th>
          </tr>
        </thead>
        <tbody>
          {categories.slice(0, SHOWN).map(({ category, count, lowest, mean, highest }) => (
            <tr key={category}>
              <th scope="row">{category}</th>
              <td className="drawn">
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect className="range" x={at(lowest)} width={Math.max(0.5, at(highest) - at(lowest))} height="1" />
                  <rect x={Math.max(0, at(mean) - 0.75)} width="1.5" height="1" />
                </svg>
              </td>
              <td>{count.toLocaleString('en')}</td>
              <td>{money(lowest)}</td>
              <td>{money(mean)}</td>
              <td>{money(highest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isPartial && <p className="hint">Based on the first 20,000 items.</p>}
    </>
  )
}

function money(price: number): string {
  return price.toLocaleString('en', { maximumFractionDigits: 2, notation: price >= 1e7 ? 'compact' : 'standard' })
}
