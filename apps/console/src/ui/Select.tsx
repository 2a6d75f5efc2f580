import type { ComponentProps } from 'react'

/** A value with its text, or one that is its own text. */
export type Option = string | readonly [value: string | number, text: string]

export interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange'> {
  options: readonly Option[]
  onChange: (value: string) => void
}

/** A list of values, of which one is chosen. */
export function Select({ options, onChange, ...rest }: SelectProps) {
  return (
    <select {...rest} onChange={(event) => onChange(event.target.value)}>
      {options.map((option) => {
        const [value, text] = typeof option === 'string' ? [option, option] : option
        return (
          <option key={value} value={value}>
            {text}
          </option>
        )
      })}
    </select>
  )
}
