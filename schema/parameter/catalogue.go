package parameter

// catalogue lists every parameter. The first eight are those of the constants PM25 to Pb. New parameters are added at
// the end.
//
// Units are those of CPCB's exports: µg/m³, but mg/m³ for CO and ppb for NOx. The upper limits are several times the
// highest hourly means of Indian stations. For example, PM10 exceeds 4,000 µg/m³ in dust storms. The limits still
// reject values that are two numbers joined by mistake. The limits for weather include India's records: -60 °C
// (Siachen) and 51 °C, a gust of 120 m/s in a cyclone, and 300 mm of rain in an hour.
var catalogue = [...]entry{
	{"pm25", "PM2.5", "µg/m³", Particle, 0, 0, 5000, []string{"pm2.5", "pm02", "p2", "pm2d5", "pm2p5"}},
	{"pm10", "PM10", "µg/m³", Particle, 0, 0, 10000, []string{"p1"}},
	{"no2", "NO2", "µg/m³", Gas, 46.01, 0, 2000, []string{"nitrogen dioxide"}},
	{"so2", "SO2", "µg/m³", Gas, 64.07, 0, 5000, []string{"sulphur dioxide", "sulfur dioxide"}},
	{"co", "CO", "mg/m³", Gas, 28.01, 0, 150, []string{"carbon monoxide"}},
	{"o3", "O3", "µg/m³", Gas, 48.00, 0, 2000, []string{"ozone"}},
	{"nh3", "NH3", "µg/m³", Gas, 17.03, 0, 5000, []string{"ammonia"}},
	{"pb", "Pb", "µg/m³", Metal, 0, 0, 100, []string{"lead"}},

	{"pm1", "PM1", "µg/m³", Particle, 0, 0, 5000, []string{"pm01", "pm1.0", "p0"}},
	{"bc", "Black carbon", "µg/m³", Particle, 0, 0, 1000, []string{"blackcarbon"}},
	{"no", "NO", "µg/m³", Gas, 30.01, 0, 4000, []string{"nitric oxide", "nitrogen monoxide"}},
	// NOx is a mixture of NO and NO2. Its mass is computed with the molar mass of
	// NO2, as networks in the EU and the US do.
	{"nox", "NOx", "ppb", Gas, 46.01, 0, 4000, []string{"nitrogen oxides", "oxides of nitrogen"}},
	{"co2", "CO2", "ppm", Gas, 44.01, 0, 40000, []string{"carbon dioxide", "rco2"}},
	{"h2s", "H2S", "µg/m³", Gas, 34.08, 0, 2000, []string{"hydrogen sulphide", "hydrogen sulfide"}},
	{"ch4", "CH4", "ppm", Gas, 16.04, 0, 1000, []string{"methane"}},
	{"benzene", "Benzene", "µg/m³", Organic, 78.11, 0, 2000, []string{"c6h6"}},
	{"toluene", "Toluene", "µg/m³", Organic, 92.14, 0, 5000, nil},
	{"ethylbenzene", "Ethylbenzene", "µg/m³", Organic, 106.17, 0, 2000, []string{"eth-benzene", "ethyl benzene"}},
	{"xylene", "Xylenes", "µg/m³", Organic, 106.17, 0, 2000, []string{"xylene"}},
	{"mp_xylene", "m,p-Xylene", "µg/m³", Organic, 106.17, 0, 2000, []string{"mp-xylene", "m/p-xylene", "mpxylene"}},
	{"o_xylene", "o-Xylene", "µg/m³", Organic, 106.17, 0, 2000, []string{"o xylene", "oxylene"}},
	{"tvoc", "TVOC", "ppb", Organic, 0, 0, 100000, []string{"voc", "total voc"}},

	{"temperature", "Temperature", "°C", Weather, 0, -60, 60, []string{"at", "temp", "ambient temperature", "atmp", "tempc"}},
	{"humidity", "Relative humidity", "%", Weather, 0, 0, 100, []string{"rh", "relativehumidity", "rhum"}},
	{"pressure", "Pressure", "hPa", Weather, 0, 400, 1100, []string{"bp", "barometric pressure", "atmospheric pressure"}},
	{"wind_speed", "Wind speed", "m/s", Weather, 0, 0, 120, []string{"ws"}},
	{"wind_direction", "Wind direction", "°", Weather, 0, 0, 360, []string{"wd"}},
	{"rain", "Rain", "mm", Weather, 0, 0, 300, []string{"rf", "rainfall", "rain fall"}},
	{"solar_radiation", "Solar radiation", "W/m²", Weather, 0, 0, 1500, []string{"sr", "solarradiation"}},
}
