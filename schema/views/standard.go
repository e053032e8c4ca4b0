package views

import "vayu/schema/parameter"

// Limit is one limit of an air quality standard, in the unit of its parameter.
type Limit struct {
	Standard  string
	Parameter parameter.Parameter
	// Period is the averaging interval that the limit applies to: "1h", "8h", "24h" or "year".
	Period string
	Value  float64
	// Percentile is the share of a year's values, in per cent, that must not exceed the limit. An annual mean has the
	// Percentile 0.
	Percentile int
}

// The standards of [Limits].
const (
	// NAAQS are India's National Ambient Air Quality Standards of 2009 for industrial, residential, rural and other
	// areas: CPCB's notification B-29016/20/90/PCI-L of 18 November 2009. Means of 1, 8 and 24 hours must comply for
	// 98 % of the time in a year. They may exceed the limit for 2 % of the time, but not on two consecutive days of
	// monitoring. An annual mean needs at least 104 days.
	NAAQS = "naaqs_2009"
	// WHO is the standard of the WHO global air quality guidelines of 2021 (ISBN 978-92-4-003422-8, tables 0.1 and
	// 0.2). Limits of 8 and 24 hours apply to the 99th percentile of the days of a year. The limits of one hour, and
	// the limit of CO over 8 hours, are older guidelines that remain valid.
	WHO = "who_2021"
)

// Limits lists the limits of both standards for the parameters of package parameter. It omits WHO's limit for the peak
// season of O3, and WHO's limits for means over less than an hour.
//
//nolint:gochecknoglobals // a table
var Limits = [...]Limit{
	{NAAQS, parameter.PM25, "year", 40, 0}, {NAAQS, parameter.PM25, "24h", 60, 98},
	{NAAQS, parameter.PM10, "year", 60, 0}, {NAAQS, parameter.PM10, "24h", 100, 98},
	{NAAQS, parameter.NO2, "year", 40, 0}, {NAAQS, parameter.NO2, "24h", 80, 98},
	{NAAQS, parameter.SO2, "year", 50, 0}, {NAAQS, parameter.SO2, "24h", 80, 98},
	{NAAQS, parameter.NH3, "year", 100, 0}, {NAAQS, parameter.NH3, "24h", 400, 98},
	{NAAQS, parameter.Pb, "year", 0.5, 0}, {NAAQS, parameter.Pb, "24h", 1, 98},
	{NAAQS, parameter.O3, "8h", 100, 98}, {NAAQS, parameter.O3, "1h", 180, 98},
	{NAAQS, parameter.CO, "8h", 2, 98}, {NAAQS, parameter.CO, "1h", 4, 98},
	{NAAQS, benzene(), "year", 5, 0},

	{WHO, parameter.PM25, "year", 5, 0}, {WHO, parameter.PM25, "24h", 15, 99},
	{WHO, parameter.PM10, "year", 15, 0}, {WHO, parameter.PM10, "24h", 45, 99},
	{WHO, parameter.NO2, "year", 10, 0}, {WHO, parameter.NO2, "24h", 25, 99}, {WHO, parameter.NO2, "1h", 200, 100},
	{WHO, parameter.SO2, "24h", 40, 99},
	{WHO, parameter.O3, "8h", 100, 99},
	{WHO, parameter.CO, "24h", 4, 99}, {WHO, parameter.CO, "8h", 10, 100}, {WHO, parameter.CO, "1h", 35, 100},
}

// benzene returns the parameter benzene, for which package parameter has no constant.
func benzene() parameter.Parameter {
	p, _ := parameter.Parse("benzene")
	return p
}

// Source returns the publication of the limit.
func (l Limit) Source() string {
	if l.Standard == NAAQS {
		return "CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009"
	}
	return "WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8"
}
