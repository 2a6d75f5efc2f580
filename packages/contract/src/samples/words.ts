const words = (text: string) => text.split(' ')

export const FIRST_NAMES = words(
  'Ada Amara Anders Bianca Carlos Chloé Deniz Elif Emeka Farah Felix Grace Hana Hugo Ines Ivan Jonas Kofi Lena Leila Liam Mei Mateo Mira Nadia Noah Olivia Omar Paula Priya Rafael Ravi Sofia Tariq Tomas Uma Viktor Wanjiru Yuki Zoe',
)
export const LAST_NAMES = words(
  'Abebe Almeida Andersson Bauer Chen Costa Demir Dubois Eriksen Fischer García Haddad Hansen Ito Jensen Kamau Kowalski Kim Larsen Lopez Mbeki Moreau Nakamura Novák Okafor Olsen Patel Petrov Quinn Rossi Sato Schmidt Silva Singh Tanaka Torres Usman Varga Weber Young',
)
export const ADJECTIVES = words(
  'quiet northern hidden golden distant broken winter silent crooked blue early patient narrow bright hollow second',
)
export const NOUNS = words(
  'harbor garden river mountain library orchard island lighthouse railway bridge forest atlas meadow tower market clock',
)
export const TITLES = [
  'The',
  'A',
  'Notes on the',
  'Letters from the',
  'Beyond the',
  'The Last',
  'A Short History of the',
]
export const CITIES = words('Accra Bergen Cusco Galway Graz Hanoi Kyoto Leeds Lyon Nairobi Porto Quito Tartu Turin')
export const COUNTRIES = words('Austria Estonia France Ghana Ireland Italy Japan Kenya Norway Peru Portugal Vietnam')
export const STREETS = ['Station Road', 'Mill Lane', 'High Street', 'Harbor Way', 'Church Street', 'Garden Row']
export const COMPANY_FORMS = ['Ltd', '& Sons', 'Trading', 'Works', 'Group']
/** Kinds of items, the most frequent ones first: the category, the usual price, and names. */
export const THINGS: [category: string, price: number, names: string[]][] = [
  ['lighting', 60, ['Desk lamp', 'Floor lamp', 'Bedside lamp', 'Pendant light', 'Lantern']],
  ['storage', 48, ['Shelf', 'Cabinet', 'Basket', 'Coat rack', 'Chest']],
  ['kitchen', 32, ['Kettle', 'Mug', 'Cutting board', 'Salt mill', 'Saucepan']],
  ['garden', 40, ['Watering can', 'Planter', 'Rake', 'Bird house', 'Bench']],
  ['toys', 24, ['Train', 'Puzzle', 'Kite', 'Building blocks', 'Marble run']],
  ['office', 35, ['Notebook', 'Desk tidy', 'Stapler', 'Pin board', 'Footrest']],
]
export const MATERIALS = words('brass oak walnut linen glass steel ceramic birch cork leather marble')
export const COLORS = words('black white grey sand blue green red')
