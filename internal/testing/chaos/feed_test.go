package chaos

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"vayu/schema"
)

// Cities are the cities of the cluster's feed.
var Cities = []string{"Delhi", "Mumbai", "Pune", "Chennai", "Kolkata", "Bengaluru", "Hyderabad", "Jaipur"}

// Folder is the folder of files that the source `file` collects.
func (c Config) Folder() string { return filepath.Join(c.Dir, "readings") }

// feed is a fake feed of the Central Pollution Control Board with values of this hour.
func feed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprint(w, FeedDocument(time.Now().In(schema.India).Truncate(time.Hour)))
}

// FeedDocument returns generated readings of every city at a moment, to the second, in the format
// of the feed of the Central Pollution Control Board.
func FeedDocument(at time.Time) string {
	at = at.In(schema.India)
	var w strings.Builder
	_, _ = fmt.Fprint(&w, "<?xml version='1.0' encoding='UTF-8'?>\n<AqIndex><Country id=\"India\"><State id=\"Made up\">\n")
	for n, city := range Cities {
		of := 60 + 10*n + at.Hour() + at.Second()/3
		_, _ = fmt.Fprintf(&w, `<City id="%[1]s"><Station id="Made up, %[1]s - TEST" lastupdate="%[2]s" latitude="%[3]d.6" longitude="77.3">`+
			`<Pollutant_Index id="PM2.5" Min="20" Max="300" Avg="%[4]d" Hourly_sub_index="%[4]d"/>`+
			`<Pollutant_Index id="PM10" Min="20" Max="250" Avg="%[5]d" Hourly_sub_index="%[5]d"/>`+
			`<Pollutant_Index id="NO2" Min="10" Max="40" Avg="25" Hourly_sub_index="25"/>`+
			`<Pollutant_Index id="SO2" Min="10" Max="40" Avg="21" Hourly_sub_index="21"/>`+
			`<Pollutant_Index id="CO" Min="10" Max="40" Avg="28" Hourly_sub_index="28"/>`+
			`<Pollutant_Index id="OZONE" Min="10" Max="40" Avg="12" Hourly_sub_index="12"/>`+
			`<Air_Quality_Index Value="%[4]d" Predominant_Parameter="PM2.5"/></Station></City>`+"\n",
			city, at.Format("02-01-2006 15:04:05"), 12+2*n, of, of-15)
	}
	_, _ = fmt.Fprint(&w, "</State></Country></AqIndex>\n")
	return w.String()
}
