/** The changes of a number: an amount to add, or a factor. */
export type Calculation = { add: number } | { multiply: number }

/** A decimal number: `digits` divided by 10 to the power of `decimals`. */
interface Decimal {
  digits: bigint
  decimals: number
}

/**
 * The number after a change, calculated exactly with decimal numbers and rounded half up: 3.015 to 3.02, although the nearest
 * binary number is below 3.015.
 *
 * @param decimals how many the result has at most
 */
export function calculated(value: number, change: Calculation, decimals: number): number {
  const [a, b] = [decimalOf(value), decimalOf('add' in change ? change.add : change.multiply)]
  const exact = 'add' in change ? sum(a, b) : { digits: a.digits * b.digits, decimals: a.decimals + b.decimals }
  return Number(`${roundedDigits(exact, decimals)}e-${decimals}`)
}

/** A number as JavaScript writes it: `0.1` is one tenth. */
function decimalOf(value: number): Decimal {
  const [digits = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const decimals = fraction.length - Number(exponent)
  return decimals < 0
    ? { digits: BigInt(whole + fraction) * power(-decimals), decimals: 0 }
    : { digits: BigInt(whole + fraction), decimals }
}

function sum(a: Decimal, b: Decimal): Decimal {
  const decimals = Math.max(a.decimals, b.decimals)
  const [left, right] = [a, b].map(({ digits, decimals: own }) => digits * power(decimals - own)) as [bigint, bigint]
  return { digits: left + right, decimals }
}

function roundedDigits({ digits, decimals }: Decimal, wanted: number): bigint {
  if (decimals <= wanted) return digits * power(wanted - decimals)
  const divisor = power(decimals - wanted)
  // Half up, also below zero: the floor of the value plus a half.
  const [numerator, denominator] = [2n * digits + divisor, 2n * divisor]
  const quotient = numerator / denominator
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}
