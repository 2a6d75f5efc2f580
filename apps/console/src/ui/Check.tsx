import { Checkbox, type CheckboxProps } from 'react-aria-components'

/** A checkbox with its box drawn. */
export function Check({ children, ...props }: Omit<CheckboxProps, 'children'> & { children?: React.ReactNode }) {
  return (
    <Checkbox {...props} className="check">
      <span className="box" aria-hidden="true" />
      {children}
    </Checkbox>
  )
}
