package backup

import "encoding/json"

// ParseManifest reads the text of a backup's manifest.
func ParseManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	return m, m.validate()
}
