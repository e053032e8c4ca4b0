package public

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/alert/wording"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// capType is the media type of an alert in the Common Alerting Protocol.
const capType = "application/cap+xml"

// warning has the severity and the response type of an alert, with the values of CAP 1.2.
type warning struct{ severity, response string }

// warningOf returns the severity and the response type for an AQI; false for an AQI better than Poor. CPCB's
// bulletins call an AQI above 400 Severe, and the action plan of the capital calls one above 450 Severe+.
func warningOf(aqi int) (w warning, ok bool) {
	switch {
	case aqi > 450:
		return warning{"Extreme", "Avoid"}, true
	case aqi > 400:
		return warning{"Severe", "Avoid"}, true
	case aqi > 300:
		return warning{"Moderate", "Avoid"}, true
	case aqi > 200:
		return warning{"Minor", "Monitor"}, true
	}
	return w, false
}

// alert is a message of the Common Alerting Protocol 1.2 (OASIS, 2010). The order of the fields is that of CAP's XML
// schema.
type alert struct {
	XMLName    xml.Name `xml:"urn:oasis:names:tc:emergency:cap:1.2 alert"`
	Identifier string   `xml:"identifier"`
	Sender     string   `xml:"sender"`
	Sent       string   `xml:"sent"`
	Status     string   `xml:"status"`
	MsgType    string   `xml:"msgType"`
	Scope      string   `xml:"scope"`
	Info       []info   `xml:"info"`
}

type info struct {
	Language    string      `xml:"language"`
	Category    []string    `xml:"category"`
	Event       string      `xml:"event"`
	Response    string      `xml:"responseType"`
	Urgency     string      `xml:"urgency"`
	Severity    string      `xml:"severity"`
	Certainty   string      `xml:"certainty"`
	Effective   string      `xml:"effective"`
	Expires     string      `xml:"expires"`
	SenderName  string      `xml:"senderName"`
	Headline    string      `xml:"headline"`
	Description string      `xml:"description"`
	Instruction string      `xml:"instruction"`
	Web         string      `xml:"web,omitempty"`
	Parameters  []parameter `xml:"parameter"`
	Area        area        `xml:"area"`
}

type parameter struct {
	Name  string `xml:"valueName"`
	Value string `xml:"value"`
}

// area is the place of an alert. Circle is "latitude,longitude radius", in degrees and km.
type area struct {
	Description string `xml:"areaDesc"`
	Circle      string `xml:"circle,omitempty"`
}

// alerted reports whether there is an alert for a city at the time of a request. There is no alert about figures that
// are more than three hours old.
func (r *request) alerted(i int) bool {
	c := &r.snap.Cities[i]
	_, warn := warningOf(int(c.AQI))
	return warn && !c.Stale(r.now)
}

// alert answers with the alert for a city. If the city has no alert, the reply is 404.
func (e *edge) alert(r *request) (resp httpapi.Response, at uint32, err error) {
	i, err := r.cityOf()
	if err != nil {
		return resp, 0, err
	}
	label := r.snap.Index.Label(i)
	if !r.alerted(i) {
		return resp, 0, schema.NewProblem(schema.NotFound, "city", "There is no alert for "+label+" now. An alert begins with an AQI of 201.")
	}
	resp, err = e.answers.Get(r.snap, r.now, "alert "+label, func() (httpapi.Response, error) { return xmlResponse(e.alertOf(r, i), capType) })
	return resp, r.snap.Cities[i].At, err
}

func (e *edge) alertOf(r *request, i int) alert {
	c := &r.snap.Cities[i]
	at := aggregate.Instant(c.At)
	a := alert{
		Identifier: e.identifier(r, i), Sender: e.authority(), Sent: capTime(at), Status: "Actual", MsgType: "Alert", Scope: "Public",
	}
	if e.World == schema.Sandbox {
		a.Status = "Test"
	}
	for _, language := range advice.Languages {
		a.Info = append(a.Info, e.infoOf(r, i, language))
	}
	return a
}

// infoOf returns the information of an alert in one language. It expires when the figures of the next hour are
// expected.
func (e *edge) infoOf(r *request, i int, language advice.Language) info {
	c := &r.snap.Cities[i]
	w, _ := warningOf(int(c.AQI))
	text, _ := advice.Of(naqi.Category(int(c.AQI)), language)
	name := c.Name
	if c.State != "" && c.State != c.Name {
		name += ", " + c.State
	}
	f := info{
		Language: string(language) + "-IN", Category: []string{"Health", "Env"}, Event: wording.Of(language).Air, Response: w.response,
		Urgency: "Immediate", Severity: w.severity, Certainty: "Observed",
		Effective: capTime(aggregate.Instant(c.At)), Expires: capTime(nextHour(r.now)), SenderName: "Vayu, " + strings.Join(e.attribution(r, i), ", "),
		Headline: fmt.Sprintf("%s: AQI %d, %s", name, c.AQI, text.Name), Description: text.Statement, Instruction: text.General,
		Parameters: []parameter{{"AQI", fmt.Sprint(c.AQI)}},
		Area:       area{Description: name},
	}
	f.Web = e.BaseURL() + links(r.snap.Index.Label(i))["self"]
	if c.Dominant.Valid() {
		f.Parameters = append(f.Parameters, parameter{"dominant pollutant", c.Dominant.Label()})
	}
	if c.Position.Known() {
		km := 5.0 // the least radius, because the position is the mean of the stations, and not the centre of the city
		for _, n := range c.Stations {
			if p := r.snap.Stations[n].Point(); p.Known() {
				km = max(km, places.Distance(c.Position, p))
			}
		}
		f.Area.Circle = fmt.Sprintf("%.3f,%.3f %.0f", c.Position.Latitude, c.Position.Longitude, km)
	}
	return f
}

// attribution returns the distinct attributions of a city's stations.
func (e *edge) attribution(r *request, i int) (all []string) {
	for _, n := range r.snap.Cities[i].Stations {
		if a := strings.TrimSpace(r.snap.Stations[n].Attribution); a != "" && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// identifier returns the identifier of the alert about the current hour of a city. CAP forbids blanks, commas, < and &.
func (e *edge) identifier(r *request, i int) string {
	c := &r.snap.Cities[i]
	name := strings.Map(func(letter rune) rune {
		if letter > unicode.MaxASCII || !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
			return '-'
		}
		return letter
	}, c.State+"."+c.Name)
	return strings.Join([]string{"vayu", e.World.String(), name, aggregate.Instant(c.At).Format("20060102T1504Z")}, ".")
}

// authority returns the name of the host of the service, which makes identifiers unique.
func (e *edge) authority() string {
	if u, err := url.Parse(e.BaseURL()); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "vayu"
}

// capTime formats a time as CAP 1.2 requires it: with an offset, which must not be Z.
func capTime(at time.Time) string { return at.In(schema.India).Format("2006-01-02T15:04:05-07:00") }

// xmlResponse returns a reply with an XML document.
func xmlResponse(document any, mediaType string) (httpapi.Response, error) {
	body, err := xml.Marshal(document)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("rendering XML: %w", err)
	}
	resp := httpapi.Ready(append([]byte(xml.Header), body...), time.Time{})
	resp.Type = []string{mediaType}
	return resp, nil
}

// alerts returns the cities with an alert, worst first.
func (e *edge) alerts(r *request) (all []int) {
	for i := range r.snap.Cities {
		if r.alerted(i) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(int(r.snap.Cities[b].AQI)-int(r.snap.Cities[a].AQI), strings.Compare(r.snap.Index.Label(a), r.snap.Index.Label(b)))
	})
	return all
}
