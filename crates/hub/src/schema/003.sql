UPDATE meta SET schema = 3;
