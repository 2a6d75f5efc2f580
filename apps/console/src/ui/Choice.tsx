import { type ReactNode, useId } from 'react'
import { Select, type SelectProps } from './Select.tsx'

interface Props extends SelectProps {
  label: ReactNode
}

/** A labeled list of values, of which one is chosen. The class is that of the label. */
export function Choice({ label, className = 'filter', ...rest }: Props) {
  const id = useId()
  return (
    <label className={className} htmlFor={id}>
      <span>{label}</span>
      <Select {...rest} id={id} />
    </label>
  )
}
