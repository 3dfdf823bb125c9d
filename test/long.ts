/** Some tests have a long form, for whoever has minutes: `npm run test:long`. */
export const long: boolean = Boolean(process.env['MODELHATCH_LONG'])
