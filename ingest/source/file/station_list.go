package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// stationList is the name of a table that assigns a station to each file in its folder. Its columns are `file` and
// `station`.
const stationList = "stations.csv"

// maxList is the largest number of bytes that are read of a station list. A list of 600 stations has 60 KB.
const maxList = 4 << 20

// newStationList recognises the header of a station list. It returns no Row, because the list has no readings.
func newStationList(h table.Header) (table.Row, bool) {
	return nil, h.Find("file") >= 0 && h.Find("station") >= 0 && len(h.Columns()) == 0
}

// stationOfFile returns the station of a file, and the averaging interval that the name of the file states. If the name
// states none, the interval is 0. A station list in the same folder has precedence over the name.
func stationOfFile(path string) (air.Station, time.Duration, error) {
	base := plainName(filepath.Base(path))
	name, period := stationNameOf(base)
	listed, err := listedStation(filepath.Join(filepath.Dir(path), stationList), base)
	if err != nil {
		return air.Station{}, 0, err
	}
	if listed != "" {
		return cpcbformat.Station(cpcbformat.NormalizeName(listed), "", "", 0, 0), period, nil
	}
	station, ok := cpcbformat.ParseLooseName(name)
	if !ok {
		return air.Station{}, 0, ingest.BadReplyf("neither the table nor the file name %q shows which station it is from: "+
			"name the file like Raw_data_1Hr_2023_site_5024_Anand_Vihar_Delhi_DPCC_1Hr.csv, or put a table %s "+
			"with the columns file,station beside it", base, stationList)
	}
	return station, period, nil
}

// copied matches suffixes such as " (1)" or " - copy", which browsers and file managers add to the names of copies.
var copied = regexp.MustCompile(`(?i)( ?\(\d+\)| - copy)+$`)

// plainName returns the name of a file without its endings and without a suffix that marks a copy.
func plainName(base string) string {
	for _, end := range []string{".gz", ".csv", ".txt"} {
		if i := len(base) - len(end); i > 0 && strings.EqualFold(base[i:], end) {
			base = copied.ReplaceAllString(base[:i], "")
		}
	}
	return base
}

// yearly matches the name of a yearly file of CPCB: Raw_data_15Min_2020_site_115_NSIT_Dwarka_Delhi_CPCB_15Min.
var yearly = regexp.MustCompile(`(?i)^(?:raw_data_)?(?:(\d+)(min|hrs?|day)_)?(?:\d{4}_)?site_\d+_(.+?)(?:_(\d+)(min|hrs?|day))?$`)

var year = regexp.MustCompile(`[-_ ](19|20)\d\d$`)

// stationNameOf extracts the station's name and the averaging interval from the name of a file.
func stationNameOf(base string) (name string, period time.Duration) {
	if m := yearly.FindStringSubmatch(base); m != nil {
		if period = cpcbformat.Period(m[4], m[5]); period == 0 {
			period = cpcbformat.Period(m[1], m[2])
		}
		return strings.ReplaceAll(m[3], "_", " "), period
	}
	base = year.ReplaceAllString(base, "")
	if !strings.ContainsAny(base, " _") {
		base = strings.ReplaceAll(base, "-", " ") // the name separates words by hyphens
	}
	return strings.ReplaceAll(base, "_", " "), 0
}

// listedStation returns the station of the file `base` in the list at `path`, or "". It fails if the list has several.
func listedStation(path, base string) (string, error) {
	list, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer list.Close()
	text, err := table.Decode(io.LimitReader(list, maxList))
	if err != nil {
		return "", ingest.BadReplyf("the station list %q cannot be read: %v", path, err)
	}
	t, err := table.ReadHeader(text)
	if err != nil {
		return "", nil
	}
	file, station := t.Header.Find("file"), t.Header.Find("station")
	if file < 0 || station < 0 {
		return "", nil // the file is another table, not a station list
	}
	var found []string
	err = t.Each(func(_ int64, cells [][]byte, fine bool) error {
		if fine && plainName(filepath.Base(string(cells[file]))) == base && table.Named(cells[station]) {
			if name := string(cells[station]); !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case len(found) > 1:
		return "", ingest.BadReplyf("the station list %q gives the file several stations: %s", path, strings.Join(found, "; "))
	case len(found) == 1:
		return found[0], nil
	}
	return "", nil
}
