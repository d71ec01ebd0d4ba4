# The radio and the MAC of the comparisons with ns-2: 914 MHz, 250 m and 550 m, 802.11 at 1 Mbit/s. Wants: rts, on or off. May have sense, 250 or 550 m.
Mac/802_11 set dataRate_ 1Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ [expr {$rts eq "on" ? 0 : 3000}]
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set PLCPDataRate_ 1.0e6
Mac/802_11 set ShortRetryLimit_ 7
Mac/802_11 set LongRetryLimit_ 4
Phy/WirelessPhy set CPThresh_ 10.0
Phy/WirelessPhy set CSThresh_ [expr {[info exists sense] && $sense == 250 ? 3.652e-10 : 1.559e-11}]
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set freq_ 914e+6
Phy/WirelessPhy set L_ 1.0
Antenna/OmniAntenna set Z_ 1.5
