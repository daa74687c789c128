<?php
// What the tests want at this moment, read anew at each request.
$folder = getenv('IDP_FOLDER') . '/';
return ['folder' => $folder] + json_decode(file_get_contents($folder . 'options.json'), true);
