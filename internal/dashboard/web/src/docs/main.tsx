import { render } from 'preact';
import '../style/tokens.css';
import './docs.css';
import { Site } from './Site';

const root = document.getElementById('docs');
if (root) {
	render(<Site />, root);
}
