import type { JSX } from 'preact';
import { t } from '../i18n';

const moves = [
	['air.left', '←', -0.3, 0],
	['air.right', '→', 0.3, 0],
	['air.up', '↑', 0, -0.3],
	['air.down', '↓', 0, 0.3],
] as const;

/**
 * MapTools has the buttons in the corner of a map. No place of the whole of India is below them. move moves the map by parts of
 * its width and height; without `move` there are no arrows.
 */
export function MapTools(props: {
	zoomIn: () => void;
	zoomOut: () => void;
	whole: () => void;
	move?: ((right: number, down: number) => void) | undefined;
}): JSX.Element {
	const { move } = props;
	return (
		<div class="map-tools">
			<div>
				<button type="button" aria-label={t('air.nearer')} title={t('air.nearer')} onClick={props.zoomIn}>
					+
				</button>
				<button type="button" aria-label={t('air.farther')} title={t('air.farther')} onClick={props.zoomOut}>
					−
				</button>
				<button type="button" aria-label={t('air.whole')} title={t('air.whole')} onClick={props.whole}>
					<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
						<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" />
					</svg>
				</button>
			</div>
			{move && (
				<div>
					{moves.map(([name, arrow, right, down]) => (
						<button key={name} type="button" aria-label={t(name)} title={t(name)} onClick={() => move(right, down)}>
							{arrow}
						</button>
					))}
				</div>
			)}
		</div>
	);
}
