export { type Facts, factsOf, shapeOf } from '@resource/openapi/schema'
