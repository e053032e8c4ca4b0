/** Surface is what the layer between the stations shows. */
export type Surface = 'none' | 'aqi' | 'pm25' | 'error';

/** surfaces are the parameters of the tiles. */
export const surfaces: Readonly<Record<Exclude<Surface, 'none'>, string>> = {
	aqi: 'parameter=aqi',
	pm25: 'parameter=pm25',
	error: 'parameter=aqi&show=uncertainty',
};

/** surfaceOf reads the surface from the address. */
export function surfaceOf(text: string | undefined): Surface {
	return text === 'aqi' || text === 'pm25' || text === 'error' ? text : 'none';
}
