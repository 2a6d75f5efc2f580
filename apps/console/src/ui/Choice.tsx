import type { ReactNode } from 'react'

interface Props {
  label: ReactNode
  className?: string
  value: string | number
  /** The values, each with its text. */
  options: readonly (readonly [value: string | number, text: string])[]
  onChange: (value: string) => void
  /** `no` if the texts are data, which a translation of the page must not change. */
  translate?: 'no' | undefined
}

/** A labeled list of values, of which one is chosen. */
export function Choice({ label, className = 'filter', value, options, onChange, translate }: Props) {
  return (
    <label className={className}>
      <span>{label}</span>
      <select translate={translate} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
